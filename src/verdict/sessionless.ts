/**
 * Servers that answer initialize without a session id. What HTTP would show of a session cannot be asked of them;
 * what they keep all the same can be counted.
 */
import { SESSIONLESS } from '../cases/obstacles.ts';
import type { Claim } from './claim.ts';
import { judgeRetained, kindOfKept } from './claims/shared.ts';
import type { Count, Evidence } from './evidence.ts';
import { withdrawn, type Finding } from './finding.ts';

const IDENTITY = 'identity.holds';

export function judgeSessionless(claim: Claim, evidence: Evidence): Finding {
  if (!isCounted(claim, evidence)) return withdrawn(SESSIONLESS);
  if (claim.id === IDENTITY) return claim.judge(evidence);
  let worst: Count | null = null;
  for (const count of evidence.counts.settled)
    if (worst === null || count.retentionDrift > worst.retentionDrift) worst = count;
  const until = worst?.t ?? 0;
  const asked = evidence.events.ops.filter((op) => op.status !== undefined && op.t <= until).length;
  return judgeRetained(
    evidence,
    worst,
    asked,
    'requests',
    (kept, remnants) =>
      `The server has no sessions for its clients and keeps ${kept} of its own, ${kindOfKept(kept, remnants)}: requests leave them behind.`,
  );
}

/** Also the bound on abandoned sessions: of those that no client can name, it is their number alone. */
const isCounted = ({ needs }: Claim, { counts }: Evidence): boolean =>
  needs.includes('probe') || (needs.includes('known-settings') && counts.settled.length > 0);
