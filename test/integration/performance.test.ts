/** Blocks of two builds, played against real servers. Whether a machine is busy must not matter here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Build, RunningTarget } from '../../src/targets/target.ts';
import { startStub } from '../fixtures/servers/stub.ts';
import { suspectTarget } from '../support/measure.ts';
import { CANDIDATE, measureIn, performed } from '../support/performance.ts';

const SLICE_MS = 30;

/** A suspect whose calls compute so many rounds of hashing. */
function working(rounds: number, ...more: string[]): object {
  const target = suspectTarget(null);
  return { ...target, args: [...target.args, '--call-work', String(rounds), ...more] };
}

const ENDLESS = {
  command: process.execPath,
  args: [
    '--import',
    import.meta.resolve('tsx'),
    new URL('../fixtures/programs/endless.ts', import.meta.url).pathname,
    '{port}',
  ],
  url: 'http://127.0.0.1:{port}/mcp',
};

/** Tells of every start. */
const watched =
  (onStart: (name: string, running: RunningTarget) => void) =>
  (build: Build): Build => ({
    ...build,
    prepare: async (...given) => {
      const prepared = await build.prepare(...given);
      return {
        ...prepared,
        start: async (options) => {
          const running = await prepared.start(options);
          onStart(build.name, running);
          return running;
        },
      };
    },
  });

const isAlive = (pid: number | null): boolean => {
  try {
    return process.kill(pid ?? NaN, 0);
  } catch {
    return false;
  }
};

test('a build whose calls take several times the work is found, whether it answers by events or by JSON', async () => {
  const { report, blocks, end } = await performed({
    targets: { baseline: working(4000), candidate: working(20_000, '--replies', 'json') },
    budgetSeconds: 120,
    sliceMs: SLICE_MS,
  });
  assert.equal(end, 'complete');
  assert.equal(report.obstacle, null);
  assert.equal(measureIn(report, 'calls-p50').decision, 'worse');
  assert.equal(measureIn(report, 'calls-per-second').decision, 'worse');
  assert.ok(blocks.every((one) => one.slices.every((slice) => slice.failed === 0)));
  // The same work for both, in turn, and each build has been the first.
  assert.equal(new Set(blocks.flatMap((one) => one.slices.map((slice) => slice.calls))).size, 1);
  const firsts = blocks.filter((one) => one.slices[0]?.place === 0).map((one) => one.build);
  assert.equal(new Set(firsts).size, 2);
  assert.ok(blocks.every((one) => one.startMs !== null && one.kibPerSession !== null));
});

test('a build against itself is not found to be worse or better', async () => {
  const { report } = await performed({
    targets: { baseline: working(2000), candidate: working(2000) },
    budgetSeconds: 10,
    sliceMs: SLICE_MS,
  });
  assert.equal(report.obstacle, null);
  for (const { decision, mayFail } of report.measures)
    if (mayFail) assert.ok(decision === 'same' || decision === 'undecided', decision);
});

test('a build that dies in the middle of a block is said to have died, and twice is enough', async () => {
  const { report, blocks } = await performed({
    targets: { baseline: working(2000), candidate: working(2000) },
    budgetSeconds: 120,
    wrap: watched((name, running) => {
      if (name === CANDIDATE) setTimeout(() => process.kill(running.pid ?? NaN, 'SIGKILL'), 200);
    }),
  });
  const reasons = blocks.flatMap((one) => (one.reason === undefined ? [] : [one.reason]));
  assert.equal(reasons.length, 2);
  for (const reason of reasons) assert.match(reason, /was ended by SIGKILL/);
  assert.match(report.obstacle ?? '', /^candidate could not be measured in 2 blocks: /);
});

test('an answer without end is left when it is longer than what is ever read', async () => {
  const { report, blocks } = await performed({
    targets: { baseline: working(0), candidate: ENDLESS },
    budgetSeconds: 60,
    sliceMs: SLICE_MS,
  });
  const reasons = blocks.filter((one) => one.build === CANDIDATE).map((one) => one.reason);
  assert.deepEqual(reasons, ['an answer was longer than 8 MiB', 'an answer was longer than 8 MiB']);
  assert.match(report.obstacle ?? '', /^candidate could not be measured in 2 blocks: an answer was longer/);
});

test('a build that does not start leaves everything undecided', async () => {
  const broken = { ...suspectTarget(null), args: ['--eval', 'process.exit(3)'] };
  const { report, blocks } = await performed({
    targets: { baseline: working(0), candidate: broken },
    budgetSeconds: 60,
    sliceMs: SLICE_MS,
  });
  assert.equal(blocks.length, 4);
  assert.match(report.obstacle ?? '', /^candidate could not be measured in 2 blocks: .*exit code 3/);
});

test('servers that run already are not started, and keep none of the sessions; where the load side is the bottleneck, it is said', async () => {
  // In this process, so that it cannot be slower than the load side.
  const stub = await startStub();
  try {
    const { report, blocks } = await performed({
      targets: { baseline: { url: stub.url }, candidate: { url: stub.url } },
      budgetSeconds: 60,
      sliceMs: SLICE_MS,
    });
    assert.equal(blocks.length, 10);
    assert.ok(blocks.every((one) => one.startMs === null && one.kibPerSession === null));
    assert.match(report.obstacle ?? '', /^The load side was the bottleneck/);
    assert.equal(stub.counts().live, 0);
    assert.equal(stub.counts().opened, stub.counts().deleted);
  } finally {
    await stub.close();
  }
});

test('Ctrl-C in the middle of a block leaves no process and no block', async () => {
  const stop = new AbortController();
  const started: RunningTarget[] = [];
  const { blocks, end } = await performed({
    targets: { baseline: working(4000), candidate: working(4000) },
    budgetSeconds: 60,
    signal: stop.signal,
    wrap: watched((_name, running) => {
      started.push(running);
      if (started.length === 2) setTimeout(() => stop.abort(), 300);
    }),
  });
  assert.equal(end, 'interrupted');
  assert.deepEqual(blocks, []);
  assert.deepEqual(
    started.filter(({ pid }) => isAlive(pid)),
    [],
  );
});
