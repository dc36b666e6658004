/**
 * Speed and memory of two builds from the blocks of a recording: a pure function of them, careful never to take
 * noise for a change. Blocks are looked at after each one, and there are few of them, so the interval is wide.
 */
import type { BlockRecord, ComparisonRecord } from '../recording/schema.ts';
import { obstacleOf } from './obstacle.ts';
import { LEAST_PAIRS, noiseOf, pairedDifference } from './paired.ts';
import type { PerformanceReport } from './schema.ts';
import { median, type Estimate } from './statistics.ts';

type Settings = NonNullable<ComparisonRecord['performance']>;
type Measure = PerformanceReport['measures'][number];
type Decision = Measure['decision'];

/** Measures that may not fail wait for a decision up to this many blocks. */
const PATIENT_BLOCKS = 6;

interface Definition extends Pick<Measure, 'id' | 'title' | 'unit' | 'mayFail'> {
  /** What one block has measured of it, once or more often. */
  readonly of: (block: BlockRecord) => readonly number[];
  /** Which way is worse. */
  readonly worse: 'more' | 'less';
  /** Differences below this cannot be told, however many blocks say so. */
  readonly resolution: number;
  readonly shown: boolean;
}

type Slice = BlockRecord['slices'][number];

const overSlices =
  (value: (slice: Slice) => number) =>
  ({ slices }: BlockRecord): number[] =>
    slices.map(value);

const once = (value: number | null): number[] => (value === null ? [] : [value]);

const MEASURES: readonly Definition[] = [
  {
    id: 'calls-p50',
    title: 'Response time of calls, median',
    unit: 'ms',
    of: overSlices((slice) => slice.p50Ms),
    worse: 'more',
    resolution: 0,
    mayFail: true,
    shown: false,
  },
  {
    id: 'calls-per-second',
    title: 'Completed calls',
    unit: '1/s',
    of: overSlices((slice) => (slice.calls / slice.ms) * 1000),
    worse: 'less',
    resolution: 0,
    mayFail: true,
    shown: false,
  },
  {
    id: 'calls-p99',
    title: 'Response time of calls, 99th percentile',
    unit: 'ms',
    of: overSlices((slice) => slice.p99Ms),
    worse: 'more',
    resolution: 0,
    mayFail: false,
    shown: true,
  },
  {
    id: 'kib-per-session',
    title: 'Memory of a live session',
    unit: 'KiB',
    of: (block) => once(block.kibPerSession),
    worse: 'more',
    // Resident memory grows by pages, an allocator's by many at a time.
    resolution: 1,
    mayFail: false,
    shown: false,
  },
  {
    id: 'start',
    title: 'Start-up',
    unit: 'ms',
    of: (block) => once(block.startMs),
    worse: 'more',
    // Whether a server is ready is asked every 20 ms.
    resolution: 20,
    mayFail: false,
    shown: false,
  },
];

/**
 * @param origins where the two sides were measured, if not both in this run: then nothing is decided from speed
 */
export function performanceOf(
  blocks: readonly BlockRecord[],
  settings: Settings,
  baseline: string,
  candidate: string,
  origins: ComparisonRecord['origins'] = { baseline: null, candidate: null },
): PerformanceReport {
  const pairs = pairsOf(blocks, baseline, candidate);
  const obstacle = obstacleOf({ blocks, pairs: pairs.length, baseline, candidate, origins });
  return {
    blocks: pairs.length,
    smallestEffect: settings.smallestEffect,
    decides: settings.decides,
    obstacle,
    measures: MEASURES.map((one) => measureOf(one, pairs, settings.smallestEffect, obstacle !== null)),
  };
}

/** Whether a further block could change nothing that matters. */
export function decidedAll(report: PerformanceReport): boolean {
  if (report.blocks < LEAST_PAIRS) return false;
  if (report.obstacle !== null) return true;
  const open = report.measures.filter((one) => one.decision === 'undecided' && one.change !== null);
  return report.blocks >= PATIENT_BLOCKS ? !open.some((one) => one.mayFail) : open.length === 0;
}

interface Pair {
  readonly baseline: BlockRecord;
  readonly candidate: BlockRecord;
}

/** Blocks that both builds went through: half a pair compares with nothing. */
function pairsOf(blocks: readonly BlockRecord[], baseline: string, candidate: string): Pair[] {
  const usable = blocks.filter((one) => one.reason === undefined && one.slices.length > 0);
  return usable.flatMap((one) => {
    if (one.build !== baseline) return [];
    const other = usable.find((each) => each.build === candidate && each.block === one.block);
    return other ? [{ baseline: one, candidate: other }] : [];
  });
}

/** What one pair of blocks has measured of both builds: in turn, so that the values at one index are neighbours. */
interface Values {
  readonly was: readonly number[];
  readonly is: readonly number[];
}

function valuesOf({ of }: Definition, pair: Pair): Values[] {
  const [was, is] = [of(pair.baseline), of(pair.candidate)];
  return was.length === 0 || is.length === 0 ? [] : [{ was, is }];
}

function measureOf(one: Definition, pairs: readonly Pair[], effect: number, hindered: boolean): Measure {
  const { id, title, unit, mayFail, resolution, worse } = one;
  const values = pairs.flatMap((pair) => valuesOf(one, pair));
  if (values.length === 0)
    return { id, title, unit, baseline: null, candidate: null, change: null, decision: blank(one), mayFail };
  const baseline = median(values.map(({ was }) => median(was)));
  const candidate = median(values.map(({ is }) => median(is)));
  const change = baseline > resolution ? changeOf(values, baseline) : null;
  const least = Math.max(effect, resolution / baseline);
  // The interval must also leave no change well behind. What cannot fail the check is worth a word only beyond doubt.
  const margin = mayFail ? least / 4 : least;
  const told = !one.shown && !hindered && change !== null;
  const decision = told ? decisionOf(change, least, margin, worse) : blank(one);
  return { id, title, unit, baseline, candidate, change, decision, mayFail };
}

const blank = ({ shown }: Definition): Decision => (shown ? 'shown' : 'undecided');

/** Of ratios, so that twice and half are as far from the same; where values are not positive, of differences. */
function changeOf(values: readonly Values[], baseline: number): Estimate | null {
  const positive = values.every(({ was, is }) => [...was, ...is].every((value) => value > 0));
  if (!positive) return differ(values, (was, is) => (is - was) / baseline);
  const logs = differ(values, (was, is) => Math.log(is / was));
  return (
    logs && { estimate: Math.expm1(logs.estimate), low: Math.expm1(logs.low), high: Math.expm1(logs.high) }
  );
}

/** Neighbours are compared with each other: what slows both down, or warms both up, cancels out. */
function differ(values: readonly Values[], difference: (was: number, is: number) => number): Estimate | null {
  const groups = values.map(({ was, is }) =>
    was.slice(0, is.length).map((value, i) => difference(value, is[i] ?? NaN)),
  );
  return pairedDifference(groups.map(median), noiseOf(groups));
}

function decisionOf(
  { estimate, low, high }: Estimate,
  effect: number,
  margin: number,
  worse: 'more' | 'less',
): Decision {
  if (estimate >= effect && low >= margin) return worse === 'more' ? 'worse' : 'better';
  if (estimate <= -effect && high <= -margin) return worse === 'more' ? 'better' : 'worse';
  return low >= -effect && high <= effect ? 'same' : 'undecided';
}
