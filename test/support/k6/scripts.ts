/** The count-based scripts, and how each is told about the server that its case asks for. */
import type { Case } from '../../../src/cases/case.ts';
import { CASES } from '../../../src/cases/index.ts';

/** Cases with a k6 script. What a cap means in memory is not k6's to say. */
export const SCRIPTED: readonly Case[] = CASES.filter(({ id }) => id !== 'abandon-large');

/** Environment of a case's script, against a server with the case's own settings. */
export function environmentOf({ settings }: Case): Record<string, string> {
  const { idleTimeoutSeconds, maxSessions } = settings;
  return {
    ...(idleTimeoutSeconds !== undefined && { IDLE_TIMEOUT: String(idleTimeoutSeconds) }),
    ...(maxSessions !== undefined && { CAP: String(maxSessions) }),
  };
}

/** Where a claim of every case is looked at. */
export const caseOf = (claim: string): Case => {
  const found = SCRIPTED.find(({ id }) => claim.startsWith(`${id}.`)) ?? SCRIPTED[0];
  if (found === undefined) throw new Error('there are no cases');
  return found;
};
