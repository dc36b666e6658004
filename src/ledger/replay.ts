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

/**
 * @param ops recorded steps in any order
 * @param deaths times at which the target's process ended
 * @param times when to read, in any order
 */
export function replay(
  ops: readonly OpRecord[],
  deaths: readonly number[],
  times: readonly number[],
  policy: LedgerPolicy,
): Replay {
  const expected: Interval[] = [];
  const counts = replayTo(ops, deaths, times, policy, (interval, index) => (expected[index] = interval));
  return { expected, counts };
}

/** The same for very many times: `read` is called with each interval and the place of its time, by time. */
export function replayTo(
  ops: readonly OpRecord[],
  deaths: readonly number[],
  times: ArrayLike<number>,
  policy: LedgerPolicy,
  read: (expected: Interval, index: number) => void,
): LedgerCounts {
  const ledger = new Ledger(policy);
  const startOf = (op: OpRecord): number => op.t - op.ms;
  // Begins before ends before deaths before readings, where times are equal: an interval may be too wide, never too
  // narrow.
  const streams = [
    stream(Float64Array.from(ops, startOf), (i, t) => ledger.begin(ops[i] as OpRecord, t)),
    stream(
      Float64Array.from(ops, (op) => op.t),
      (i, t) => {
        const op = ops[i] as OpRecord;
        ledger.end(op, startOf(op), t);
      },
    ),
    stream(new Float64Array(deaths), () => ledger.reset()),
    stream(new Float64Array(times), (i, t) => read(ledger.expectedAt(t), i)),
  ];
  for (let next = soonest(streams); next !== null; next = soonest(streams)) advance(next);
  return ledger.counts;
}

/** Events of one kind, by time; of the same time, in their order. */
interface Stream {
  readonly times: Float64Array;
  /** Places in `times` in the order of time; null where that is their own order. */
  readonly order: Uint32Array | null;
  readonly run: (index: number, t: number) => void;
  done: number;
  /** Time of the next event; Infinity after the last. */
  next: number;
}

function stream(times: Float64Array, run: Stream['run']): Stream {
  const order = orderOf(times);
  return { times, order, run, done: 0, next: times[order?.[0] ?? 0] ?? Infinity };
}

function orderOf(times: Float64Array): Uint32Array | null {
  if (times.every((t, i) => i === 0 || t >= (times[i - 1] ?? 0))) return null;
  // TypedArray's sort is stable.
  return Uint32Array.from(times.keys()).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0));
}

function advance(stream: Stream): void {
  const index = stream.order?.[stream.done] ?? stream.done;
  stream.run(index, stream.next);
  stream.done++;
  stream.next = stream.times[stream.order?.[stream.done] ?? stream.done] ?? Infinity;
}

/** Of streams with the same next time, the first. */
function soonest(streams: readonly Stream[]): Stream | null {
  let first: Stream | null = null;
  for (const stream of streams) if (stream.next < (first?.next ?? Infinity)) first = stream;
  return first;
}
