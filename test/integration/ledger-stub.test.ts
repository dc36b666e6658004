/** The ledger against servers that count for themselves: what it expects is what they hold. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { play, type FloodStage, type PlayStage } from '../../src/cases/case.ts';
import { call, del, drop, initialized, open } from '../../src/cases/steps.ts';
import { playFlood } from '../../src/drivers/flood.ts';
import type { LedgerPolicy } from '../../src/ledger/ledger.ts';
import { replay, type Replay } from '../../src/ledger/replay.ts';
import type { OpRecord } from '../../src/recording/schema.ts';
import { startStub, type Stub, type StubOptions } from '../fixtures/servers/stub.ts';
import { startSuspect } from '../fixtures/servers/suspect.ts';
import { played, playedStage, type Played } from '../support/play.ts';

const CONCURRENCY = 50;

/** The stub discards before it answers, so nothing may lag. */
const POLICY: LedgerPolicy = { idleSeconds: Infinity, slackMs: 0, lagMs: 0 };

const deleting = (sessions: number): PlayStage =>
  play('load', 'load', sessions, CONCURRENCY, (pick) => [open(), initialized(), call(pick.text()), del()]);

const droppingHalf = (sessions: number): PlayStage =>
  play('load', 'load', sessions, CONCURRENCY, (pick) => [
    open(),
    initialized(),
    call(pick.text()),
    pick.index % 2 === 0 ? del() : drop(),
  ]);

interface Outcome extends Played {
  readonly counts: ReturnType<Stub['counts']>;
  readonly replay: Replay;
  /** What the ledger expects once all is over. */
  readonly end: { readonly min: number; readonly max: number };
}

async function playOn(options: StubOptions, stage: PlayStage): Promise<Outcome> {
  const stub = await startStub(options);
  try {
    const result = await playedStage(stub.url, () => stub.counts().live, stage);
    return { ...result, counts: stub.counts(), ...judged(result) };
  } finally {
    await stub.close();
  }
}

/** Replays what was recorded; the server's own counts must lie within what is expected at each reading. */
function judged({ ops, readings }: Played): Pick<Outcome, 'replay' | 'end'> {
  const times = [...readings.map(({ t }) => t), (ops.at(-1)?.t ?? 0) + 1];
  const result = replay(ops, [], times, POLICY);
  for (const [i, { t, live }] of readings.entries()) {
    const { min, max } = result.expected[i] ?? { min: NaN, max: NaN };
    assert.ok(min <= live && live <= max, `${live} live, ${min} to ${max} expected at ${t} ms`);
  }
  return { replay: result, end: result.expected.at(-1) ?? { min: NaN, max: NaN } };
}

const exactly = (count: number): Outcome['end'] => ({ min: count, max: count });

const broken = (ops: readonly OpRecord[], steps: readonly string[]): OpRecord[] =>
  ops.filter((op) => op.outcome === 'broken' && steps.includes(op.step));

for (const [how, sessions, options] of [
  ['', 20_000, {}],
  [' over connections that DELETE closes', 4_000, { closeOnDelete: true }],
  [' on a server that is slow to answer', 2_000, { delayMs: 40 }],
  [' answered by event streams', 3_000, { answer: 'sse' }],
] as const)
  test(`${sessions} sessions opened and deleted${how}: the expected count is the server's`, async () => {
    const { counts, replay, end, ops } = await playOn(options, deleting(sessions));
    assert.deepEqual([counts.opened, counts.deleted, counts.live], [sessions, sessions, 0]);
    assert.deepEqual(end, exactly(counts.live));
    assert.deepEqual(replay.counts, {
      opened: sessions,
      deleted: sessions,
      abandoned: 0,
      refused: 0,
      uncertain: 0,
    });
    assert.equal(ops.length, 4 * sessions);
    assert.ok(ops.every((op) => op.outcome === 'ok'));
  });

test('half of the sessions dropped: the expected count is exactly what is left', async () => {
  const { counts, replay, end } = await playOn({}, droppingHalf(5_000));
  assert.deepEqual([counts.opened, counts.deleted, counts.live], [5_000, 2_500, 2_500]);
  assert.deepEqual(end, exactly(counts.live));
  assert.equal(replay.counts.abandoned, 2_500);
});

test('a server that declines DELETE with 405: every session is expected to live on', async () => {
  const { counts, replay, end } = await playOn({ declineDelete: 405 }, deleting(500));
  assert.equal(counts.live, 500);
  assert.deepEqual(end, exactly(counts.live));
  assert.equal(replay.counts.deleted, 0);
});

for (const [what, stage] of [
  ['deleted', deleting(5_000)],
  ['deleted or dropped', droppingHalf(5_000)],
] as const)
  test(`one request in a hundred reset, sessions ${what}: uncertain by just those resets`, async () => {
    const { counts, replay, end, ops } = await playOn({ resetOneIn: 100 }, stage);
    assert.ok(counts.resets > 50, 'resets took place');
    assert.equal(broken(ops, ['open', 'initialized', 'call', 'delete']).length, counts.resets);
    const uncertain = broken(ops, ['open', 'delete']).length;
    assert.ok(end.min <= counts.live && counts.live <= end.max, `${counts.live} in ${end.min}..${end.max}`);
    // Every reset opening and deletion stays open to doubt; every other session is known.
    assert.equal(end.max - end.min, uncertain);
    assert.equal(replay.counts.uncertain, uncertain);
    // Resets came both before and after the server had acted, so neither bound alone is the truth.
    assert.ok(end.min < counts.live && counts.live < end.max);
  });

const flooding = (amount: number): FloodStage => ({
  kind: 'flood',
  name: 'flood',
  phase: 'after',
  amount,
  connections: 20,
});

test('a flood that is let in: as many statuses as answers, and every session is closed again', async () => {
  const stub = await startStub();
  try {
    const result = await played(
      stub.url,
      () => stub.counts().live,
      (context, endpoint) => playFlood(context, flooding(2_000), endpoint),
    );
    const { opened, deleted, live } = stub.counts();
    assert.deepEqual([opened, deleted, live], [2_000, 2_000, 0]);
    const [sum] = result.floods;
    assert.deepEqual(sum?.statuses, { '200': opened });
    assert.deepEqual([sum.sent, sum.admitted, sum.closed, sum.broken], [2_000, 2_000, 2_000, 0]);
    assert.deepEqual(judged(result).end, exactly(0));
  } finally {
    await stub.close();
  }
});

test('a flood on a server with few places left: those let in are counted and closed', async () => {
  const server = await startSuspect({ maxSessions: 7 });
  const counts = () => server.snapshot().managers[0];
  try {
    const result = await played(
      server.url,
      () => counts()?.registered ?? NaN,
      (context, endpoint) => playFlood(context, flooding(2_000), endpoint),
    );
    const [sum] = result.floods;
    assert.equal(sum?.admitted, 7);
    const { '200': admitted, ...refused } = sum.statuses;
    assert.deepEqual([admitted, Object.values(refused)], [7, [counts()?.rejections]]);
    assert.deepEqual([sum.sent, sum.closed, sum.broken], [2_000, 7, 0]);
    assert.equal(counts()?.registered, 0);
    assert.deepEqual(judged(result).end, exactly(0));
  } finally {
    await server.close();
  }
});
