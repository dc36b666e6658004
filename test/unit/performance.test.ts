/** What blocks of two builds come to: noise is never taken for a change, and a change of a fifth is found. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { BlockRecord } from '../../src/recording/schema.ts';
import { decidedAll, performanceOf } from '../../src/verdict/performance.ts';
import type { PerformanceReport } from '../../src/verdict/schema.ts';

const SETTINGS = { budgetSeconds: 60, smallestEffect: 0.1, decides: true };
/** About what a minute has room for. */
const MOST_BLOCKS = 12;

interface Noise {
  /** Of the machine, from block to block: both builds meet it. */
  readonly machine: number;
  /** Of a process: two of one build are not equally fast. */
  readonly process: number;
  /** Of a slice. */
  readonly slice: number;
  /** How often a slice meets a busy moment, which makes it up to three times as long. */
  readonly bursts: number;
}

const QUIET: Noise = { machine: 0.05, process: 0.02, slice: 0.03, bursts: 0.02 };
const USUAL: Noise = { machine: 0.2, process: 0.03, slice: 0.05, bursts: 0.08 };
const BUSY: Noise = { machine: 0.4, process: 0.1, slice: 0.25, bursts: 0.3 };

/** Draws that follow from a seed. */
function drawing(seed: number): { uniform(): number; normal(): number } {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}

type Draw = ReturnType<typeof drawing>;

/** Blocks of a baseline of 12 ms a call and a candidate that takes `slower` as long. */
function blocksOf(count: number, slower: number, noise: Noise, draw: Draw): BlockRecord[] {
  return Array.from({ length: count }, (_, block) => {
    const machine = Math.exp(noise.machine * draw.normal());
    return ['baseline', 'candidate'].map((build, which) => {
      const own = machine * Math.exp(noise.process * draw.normal()) * (which === 1 ? slower : 1);
      const ms = (): number =>
        12 *
        own *
        Math.exp(noise.slice * draw.normal()) *
        (draw.uniform() < noise.bursts ? 1 + 2 * draw.uniform() : 1);
      return blockOf(build, block, Array.from({ length: 4 }, ms), {
        startMs: 450 * machine * Math.exp(noise.process * draw.normal()),
        kibPerSession: 65 + 2 * draw.normal(),
      });
    });
  }).flat();
}

function blockOf(
  build: string,
  block: number,
  p50s: readonly number[],
  more: Partial<BlockRecord> = {},
): BlockRecord {
  const slices = p50s.map((p50Ms, i) => ({
    place: 2 * i,
    calls: 200,
    failed: 0,
    ms: 25 * p50Ms,
    p50Ms,
    p99Ms: 2 * p50Ms,
    loadCpu: 0.15,
  }));
  const times = { startMs: 450, kibPerSession: 65, liveSessions: 120 };
  return { type: 'block', t: block, build, block, ...times, slices, ...more };
}

const judged = (blocks: readonly BlockRecord[]): PerformanceReport =>
  performanceOf(blocks, SETTINGS, 'baseline', 'candidate');

/** Block by block until it is decided, as a run looks at them. */
function played(slower: number, noise: Noise, seed: number): PerformanceReport {
  const blocks = blocksOf(MOST_BLOCKS, slower, noise, drawing(seed));
  for (let count = 1; ; count++) {
    const report = judged(blocks.filter((one) => one.block < count));
    if (count === MOST_BLOCKS || decidedAll(report)) return report;
  }
}

const decisionOf = (report: PerformanceReport, id: string): string | undefined =>
  report.measures.find((one) => one.id === id)?.decision;

/** Of so many runs, the share that found it so, by measure: `calls-p50 worse`. */
function shares(runs: number, slower: number, noise: Noise): (what: string) => number {
  const found = new Map<string, number>();
  for (let run = 1; run <= runs; run++)
    for (const { id, decision } of played(slower, noise, 7919 * run).measures)
      found.set(`${id} ${decision}`, (found.get(`${id} ${decision}`) ?? 0) + 1 / runs);
  return (what) => found.get(what) ?? 0;
}

test('two builds that are alike: neither worse nor better, however busy the machine', () => {
  for (const noise of [QUIET, USUAL, BUSY]) {
    const of = shares(200, 1, noise);
    for (const id of ['calls-p50', 'calls-per-second', 'kib-per-session', 'start'])
      for (const decision of ['worse', 'better'])
        assert.ok(of(`${id} ${decision}`) <= 0.005, `${id} ${decision}: ${of(`${id} ${decision}`)}`);
    if (noise === QUIET) assert.ok(of('calls-p50 same') >= 0.95);
  }
});

test('2 % slower is not reported; a fifth slower is found, also on a machine with busy moments', () => {
  for (const noise of [QUIET, USUAL]) assert.equal(shares(100, 1.02, noise)('calls-p50 worse'), 0);
  const [quiet, usual] = [shares(60, 1.2, QUIET), shares(60, 1.2, USUAL)];
  assert.ok(quiet('calls-p50 worse') >= 0.98 && quiet('calls-per-second worse') >= 0.98);
  assert.ok(usual('calls-p50 worse') >= 0.9, String(usual('calls-p50 worse')));
  assert.ok(shares(40, 1 / 1.2, QUIET)('calls-p50 better') >= 0.98);
});

test('property: neither the unit nor the order of blocks matters', () => {
  const some = fc.record({ seed: fc.nat(), count: fc.integer({ min: 5, max: 12 }) });
  fc.assert(
    fc.property(some, fc.double({ min: 0.01, max: 100, noNaN: true }), ({ seed, count }, scale) => {
      const blocks = blocksOf(count, 1.1, USUAL, drawing(seed));
      const slower = blocks.map((one) => ({
        ...one,
        slices: one.slices.map((slice) => ({ ...slice, p50Ms: scale * slice.p50Ms, ms: scale * slice.ms })),
      }));
      const [was, is] = [judged(blocks), judged(slower)];
      for (const id of ['calls-p50', 'calls-per-second']) {
        const of = (report: PerformanceReport) => report.measures.find((one) => one.id === id)?.change;
        for (const bound of ['estimate', 'low', 'high'] as const)
          assert.ok(Math.abs((of(was)?.[bound] ?? NaN) - (of(is)?.[bound] ?? NaN)) < 1e-9);
      }
      assert.deepEqual(judged([...blocks].reverse()), was);
      assert.deepEqual(judged(blocks), was);
    }),
    { numRuns: 30 },
  );
});

test('nothing is decided from fewer than 5 blocks', () => {
  const report = judged(blocksOf(4, 3, QUIET, drawing(1)));
  assert.equal(report.blocks, 4);
  assert.ok(report.measures.every((one) => one.decision === 'undecided' || one.decision === 'shown'));
  assert.equal(decidedAll(report), false);
});

test('memory and start-up are told and never fail; p99 is shown', () => {
  const blocks = blocksOf(8, 1, QUIET, drawing(3)).map((one) =>
    one.build === 'candidate' ? { ...one, kibPerSession: 95, startMs: 900 } : one,
  );
  const report = judged(blocks);
  assert.equal(decisionOf(report, 'kib-per-session'), 'worse');
  assert.equal(decisionOf(report, 'start'), 'worse');
  assert.equal(decisionOf(report, 'calls-p99'), 'shown');
  const failing = report.measures.filter((one) => one.mayFail).map(({ id }) => id);
  assert.deepEqual(failing, ['calls-p50', 'calls-per-second']);
});

test('what cannot be measured is null and keeps nothing waiting', () => {
  const blocks = blocksOf(8, 1, QUIET, drawing(3)).map((one) => ({
    ...one,
    kibPerSession: null,
    startMs: null,
  }));
  const report = judged(blocks);
  const start = report.measures.find((one) => one.id === 'start');
  assert.deepEqual([start?.baseline, start?.change, start?.decision], [null, null, 'undecided']);
  assert.equal(decidedAll(report), true);
});

/** Blocks of a clear change, with something about them that forbids to say so. */
function hindered(change: (block: BlockRecord) => BlockRecord): PerformanceReport {
  const report = judged(blocksOf(6, 2, QUIET, drawing(5)).map(change));
  assert.ok(report.measures.every((one) => one.decision === 'undecided' || one.decision === 'shown'));
  return report;
}

const withSlices = (one: BlockRecord, change: Partial<BlockRecord['slices'][number]>): BlockRecord => ({
  ...one,
  slices: one.slices.map((slice) => ({ ...slice, ...change })),
});

test('a load side that was the bottleneck decides nothing, and there is no use in going on', () => {
  const report = hindered((one) => (one.build === 'baseline' ? withSlices(one, { loadCpu: 0.93 }) : one));
  assert.match(
    report.obstacle ?? '',
    /load side was the bottleneck \(busy for 93 % of the time against baseline\)/,
  );
  assert.equal(decidedAll(report), true);
});

test('failed calls decide nothing', () => {
  const report = hindered((one) => withSlices(one, { failed: 5 }));
  assert.match(report.obstacle ?? '', /^120 of 4800 calls to baseline failed/);
});

test('a build that could not be measured in two blocks decides nothing; in one it costs that block', () => {
  const dies = (below: number) => (one: BlockRecord) =>
    one.build === 'candidate' && one.block < below ? { ...one, reason: 'the server died: …' } : one;
  const report = hindered(dies(2));
  assert.match(report.obstacle ?? '', /^candidate could not be measured in 2 blocks: the server died/);
  const once = judged(blocksOf(6, 2, QUIET, drawing(5)).map(dies(1)));
  assert.deepEqual([once.obstacle, once.blocks, decisionOf(once, 'calls-p50')], [null, 5, 'worse']);
});

test('builds that were measured on different occasions decide nothing', () => {
  const origin = {
    tool: { name: 'mcp-retention', version: '0' },
    host: { os: 'x', arch: 'x', cpus: 1, memoryBytes: 1, node: 'x' },
    startedAt: '2026-01-01T00:00:00.000Z',
    policy: { idleMaxSeconds: null, maxSessions: null },
    seed: 1,
  };
  const origins = { baseline: origin, candidate: null };
  const report = performanceOf([], SETTINGS, 'baseline', 'candidate', origins);
  assert.match(report.obstacle ?? '', /different occasions/);
  assert.match(judged([]).obstacle ?? '', /^No block/);
});
