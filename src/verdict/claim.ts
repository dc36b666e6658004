import type { Evidence } from './evidence.ts';
import type { Finding } from './finding.ts';

/** What a target must offer so that a claim can be asked at all. */
export type ClaimNeed =
  /** Registry counts from a probe inside the server. */
  | 'probe'
  /** Its idle timeout and cap, from a probe or declared. */
  | 'known-settings'
  /** A cap on sessions: builds without the setting cannot be asked. */
  | 'cap';

/** One checkable statement of a case. `judge` reads evidence and nothing else. */
export interface Claim {
  readonly id: string;
  readonly says: string;
  readonly needs: readonly ClaimNeed[];
  readonly judge: (evidence: Evidence) => Finding;
}

export function defineClaim(id: string, claim: Omit<Claim, 'id'>): Claim {
  return { id, ...claim };
}
