/**
 * Speed and memory of two builds, in blocks: a fresh process of each, their calls in turn, until it is decided which
 * is faster or the time is spent. Fresh ones, because no two processes of one build are equally fast.
 */
import type { BlockRecord, ComparisonRecord } from '../recording/schema.ts';
import { decidedAll, performanceOf } from '../verdict/performance.ts';
import { Contender, CONNECTIONS } from './contender.ts';
import type { Played } from './run-options.ts';

type PerformanceSettings = NonNullable<ComparisonRecord['performance']>;

/** How long a slice of calls takes on the baseline: short ones meet both builds alike, however the machine drifts. */
const SLICE_MS = 200;
/** Calls are few where each takes long: so many a connection at least. */
const LEAST_CALLS = 5 * CONNECTIONS;
const MOST_CALLS = 50_000;
const PILOTS = 3;
/** Blocks that cannot be measured, after which no further one is begun. */
const MOST_FAILURES = 2;
/** Which build each slice of a block goes to, in the order that the block begins with: A B B A, twice. */
const ORDER = [0, 1, 1, 0, 1, 0, 0, 1] as const;

/**
 * Plays blocks for the first two builds of the run, the baseline and the candidate, and records them. A block is
 * begun when one as long as the longest so far still ends within the budget; the first one always is. Ends when
 * everything that decides is decided, when two blocks could not be measured, or when the run is interrupted.
 * @param sliceMs shorter ones are noisier
 */
export async function measurePerformance(
  played: Played,
  settings: PerformanceSettings,
  sliceMs = SLICE_MS,
): Promise<void> {
  const [baseline, candidate] = played.options.builds.map(({ name }) =>
    played.builds.find(({ record }) => record.build === name),
  );
  // What could not be prepared has said so already.
  if (!baseline || !candidate) return;
  const names = [baseline.record.build, candidate.record.build] as const;
  const until = performance.now() + settings.budgetSeconds * 1000;
  const blocks: BlockRecord[] = [];
  const pace: Pace = { sliceMs, amount: null };
  let longestMs = 0;
  for (let number = 0; number === 0 || performance.now() + longestMs <= until; number++) {
    const began = performance.now();
    for (const build of names)
      played.options.onProgress({ kind: 'stage', build, case: 'performance', stage: `block ${number + 1}` });
    const contenders = [
      new Contender(baseline, played, 'baseline'),
      new Contender(candidate, played, 'candidate'),
    ] as const;
    await playBlock(contenders, number, pace);
    // What Ctrl-C cut short says nothing about the build.
    if (played.signal.aborted) return;
    blocks.push(...contenders.map((contender) => written(played, contender.block(number))));
    longestMs = Math.max(longestMs, performance.now() - began);
    const report = performanceOf(blocks, settings, ...names);
    if (decidedAll(report) || failures(blocks, names) >= MOST_FAILURES) return;
  }
}

interface Pace {
  readonly sliceMs: number;
  /** Calls a slice: the same for both builds, and from the first block on. */
  amount: number | null;
}

async function playBlock(
  [baseline, candidate]: readonly [Contender, Contender],
  number: number,
  pace: Pace,
): Promise<void> {
  const order = number % 2 === 0 ? [baseline, candidate] : [candidate, baseline];
  const whole = (): boolean => order.every(({ failure }) => failure === null);
  try {
    // One after the other: starting is measured.
    for (const contender of order) if (whole()) await contender.start();
    if (whole()) await Promise.all(order.map((contender) => contender.open()));
    if (whole()) pace.amount ??= await pilot(baseline, pace.sliceMs);
    if (pace.amount !== null) await playSlices(order, pace.amount, whole);
  } finally {
    await Promise.all(order.map((contender) => contender.end()));
  }
}

async function playSlices(order: readonly Contender[], calls: number, whole: () => boolean): Promise<void> {
  // Connections, caches and compilers warm up.
  for (const contender of order) if (whole()) await contender.calls(calls);
  for (const [place, which] of ORDER.entries()) if (whole()) await order[which]?.record(place, calls);
}

/**
 * How many calls the baseline answers in a slice's time, by the fastest of some slices: a busy moment of the machine
 * would make all further slices short. null where it answers none.
 */
async function pilot(baseline: Contender, sliceMs: number): Promise<number | null> {
  let amount = 2 * CONNECTIONS;
  let fastest = 0;
  for (let tries = 0; tries < PILOTS;) {
    const slice = await baseline.calls(amount);
    if (!slice) return null;
    fastest = Math.max(fastest, slice.calls / slice.ms);
    const telling = slice.ms >= sliceMs / 2 || amount >= MOST_CALLS;
    if (telling) tries++;
    else amount = bounded(2 * amount);
  }
  return bounded(fastest * sliceMs);
}

/** A whole number of calls for each connection. */
const bounded = (amount: number): number =>
  Math.min(MOST_CALLS, Math.max(LEAST_CALLS, CONNECTIONS * Math.round(amount / CONNECTIONS)));

function written({ recorder }: Played, block: Omit<BlockRecord, 't'>): BlockRecord {
  const t = recorder.now();
  recorder.write(block, t);
  return { ...block, t };
}

/** Blocks that the worse of both could not be measured in. */
const failures = (blocks: readonly BlockRecord[], names: readonly string[]): number =>
  Math.max(
    ...names.map((name) => blocks.filter((one) => one.build === name && one.reason !== undefined).length),
  );
