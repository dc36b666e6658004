/**
 * Replays a recorded arm through the ledger: what was expected at each sample, offline.
 */
import type { OpRecord } from '../recording/schema.ts';
import { Ledger, type Interval, type LedgerCounts, type LedgerPolicy } from './ledger.ts';

export interface Replay {
  /** Expected registered sessions at each of the times asked for, in their order. */
  readonly expected: readonly Interval[];
  readonly counts: LedgerCounts;
}

type Event = { readonly t: number; readonly order: number; readonly run: (ledger: Ledger) => void };

/** Begins before ends before readings, where times are equal: an interval may be too wide, never too narrow. */
const BEGIN = 0;
const END = 1;
const RESET = 2;
const READ = 3;

/**
 * @param ops recorded steps in any order
 * @param deaths times at which the target's process ended
 * @param times when to read, in ascending order
 */
export function replay(
  ops: readonly OpRecord[],
  deaths: readonly number[],
  times: readonly number[],
  policy: LedgerPolicy,
): Replay {
  const ledger = new Ledger(policy);
  const expected: Interval[] = [];
  const events: Event[] = ops.flatMap((op) => {
    const startedAt = op.t - op.ms;
    return [
      { t: startedAt, order: BEGIN, run: () => ledger.begin(op, startedAt) },
      { t: op.t, order: END, run: () => ledger.end(op, startedAt, op.t) },
    ];
  });
  for (const t of deaths) events.push({ t, order: RESET, run: () => ledger.reset() });
  for (const t of times) events.push({ t, order: READ, run: () => expected.push(ledger.expectedAt(t)) });
  events.sort((a, b) => a.t - b.t || a.order - b.order);
  for (const event of events) event.run(ledger);
  return { expected, counts: ledger.counts };
}
