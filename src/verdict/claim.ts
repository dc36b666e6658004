import { SAYS, type ClaimId } from '../cases/claims.ts';
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

/** What it says stands with the cases, where k6 reads it too. */
export function defineClaim(id: ClaimId, claim: Omit<Claim, 'id' | 'says'>): Claim {
  return { id, says: SAYS[id], ...claim };
}
