import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Ledger, type LedgerPolicy } from '../../src/ledger/ledger.ts';
import { replay } from '../../src/ledger/replay.ts';
import type { OpRecord } from '../../src/recording/schema.ts';

const forever: LedgerPolicy = { idleSeconds: Infinity, slackMs: 0, lagMs: 0 };
const oneSecond: LedgerPolicy = { idleSeconds: 1, slackMs: 200, lagMs: 50 };

type Step = Partial<OpRecord> & Pick<OpRecord, 'step' | 't'>;

/** Ops of session `s:0` unless told otherwise, each 10 ms long. */
const ops = (...steps: Step[]): OpRecord[] =>
  steps.map((step) => ({
    type: 'op',
    arm: 'a1',
    stage: 's',
    session: 's:0',
    ms: 10,
    outcome: 'ok',
    ...(step.step === 'open' && (step.outcome ?? 'ok') === 'ok' && { sid: true, status: 200 }),
    ...step,
  }));

const expectedAt = (recorded: OpRecord[], times: number[], policy = oneSecond, deaths: number[] = []) =>
  replay(recorded, deaths, times, policy).expected.map(({ min, max }) => `${min}..${max}`);

test('an opening in flight may be registered or not, and is once answered', () => {
  assert.deepEqual(expectedAt(ops({ step: 'open', t: 20 }), [5, 15, 30]), ['0..0', '0..1', '1..1']);
});

test('a deletion in flight may have happened, and its discarding may lag', () => {
  const recorded = ops({ step: 'open', t: 10 }, { step: 'delete', t: 30, status: 200 });
  assert.deepEqual(expectedAt(recorded, [15, 25, 40, 100]), ['1..1', '0..1', '0..1', '0..0']);
});

test('an idle session may be gone at its timeout and must be after its slack', () => {
  const recorded = ops({ step: 'open', t: 10 }, { step: 'drop', t: 11, ms: 0, outcome: 'local' });
  assert.deepEqual(expectedAt(recorded, [990, 1100, 1300]), ['1..1', '0..1', '0..0']);
});

test('activity starts the idle time anew, and a request in flight stops it', () => {
  const recorded = ops({ step: 'open', t: 10 }, { step: 'sleep', t: 3000, ms: 2500, status: 200 });
  assert.deepEqual(expectedAt(recorded, [900, 2900, 3100, 4300]), ['1..1', '1..1', '1..1', '0..0']);
});

test('an open stream keeps its session in flight until it ends', () => {
  const recorded = ops(
    { step: 'open', t: 10 },
    { step: 'stream', t: 20, status: 200 },
    { step: 'stream-end', t: 5000, ms: 0, outcome: 'local' },
  );
  assert.deepEqual(expectedAt(recorded, [4900, 5900, 6300]), ['1..1', '1..1', '0..0']);
});

test('a connection that breaks before the answer leaves the session uncertain, never guessed', () => {
  const opening = ops({ step: 'open', t: 20, outcome: 'broken' });
  assert.deepEqual(expectedAt(opening, [30], forever), ['0..1']);
  assert.equal(replay(opening, [], [], forever).counts.uncertain, 1);
  const deleting = ops({ step: 'open', t: 20 }, { step: 'delete', t: 40, outcome: 'broken' });
  assert.deepEqual(expectedAt(deleting, [60], forever), ['0..1']);
});

test('a request that was proved unsent changes nothing', () => {
  const unsent = { outcome: 'local' } as const;
  const opening = ops({ step: 'open', t: 20, ...unsent });
  assert.deepEqual(expectedAt(opening, [15, 30], forever), ['0..1', '0..0']);
  assert.equal(replay(opening, [], [], forever).counts.uncertain, 0);
  const deleting = ops({ step: 'open', t: 20 }, { step: 'delete', t: 40, ...unsent });
  assert.deepEqual(expectedAt(deleting, [35, 60], forever), ['0..1', '1..1']);
});

test('an answer that overlaps a deletion, as rounded times may, does not prove that the session lives', () => {
  const recorded = ops(
    { step: 'open', t: 20 },
    { step: 'call', t: 40.01, status: 200 },
    { step: 'delete', t: 60, ms: 20, status: 200 },
  );
  assert.deepEqual(expectedAt(recorded, [50, 80], forever), ['0..1', '0..0']);
});

test('a request that broke may not have reached the server: idleness may count from before it', () => {
  const recorded = ops({ step: 'open', t: 10 }, { step: 'call', t: 700, outcome: 'broken' });
  assert.deepEqual(expectedAt(recorded, [800, 1100, 1850, 1950]), ['1..1', '0..1', '0..1', '0..0']);
});

test('a refused opening leaves nothing, a declined DELETE leaves the session', () => {
  assert.deepEqual(
    expectedAt(ops({ step: 'open', t: 20, outcome: 'refused', status: 503 }), [200], forever),
    ['0..0'],
  );
  const declined = ops({ step: 'open', t: 20 }, { step: 'delete', t: 40, outcome: 'refused', status: 405 });
  assert.deepEqual(expectedAt(declined, [200], forever), ['1..1']);
  // It does not say that the session is still there: here it has expired before.
  const late = ops({ step: 'open', t: 20 }, { step: 'delete', t: 9000, outcome: 'refused', status: 405 });
  assert.deepEqual(expectedAt(late, [9500], { ...forever, idleSeconds: 1 }), ['0..0']);
});

test('a server that answers without a session id has nothing to keep', () => {
  assert.deepEqual(expectedAt(ops({ step: 'open', t: 20, sid: false }), [200], forever), ['0..0']);
});

test('the death of the process takes every session with it', () => {
  assert.deepEqual(expectedAt(ops({ step: 'open', t: 20 }), [50, 200], forever, [100]), ['1..1', '0..0']);
});

test('using an ended id again changes nothing', () => {
  const recorded = ops(
    { step: 'open', t: 10 },
    { step: 'delete', t: 30, status: 200 },
    { step: 'reuse', t: 200, outcome: 'refused', status: 404 },
  );
  assert.deepEqual(expectedAt(recorded, [300]), ['0..0']);
});

test('property: a faithful server is always inside the interval, which is a point when nothing is uncertain', () => {
  const session = fc.record({
    at: fc.integer({ min: 0, max: 500 }),
    gap: fc.integer({ min: 1, max: 300 }),
    ms: fc.integer({ min: 1, max: 100 }),
    /** Where within the request the server acts, and whether its answers get through. */
    acts: fc.double({ min: 0, max: 1, noNaN: true }),
    openBreaks: fc.boolean(),
    deletes: fc.boolean(),
    deleteBreaks: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(session, { maxLength: 20 }),
      fc.array(fc.integer({ min: 0, max: 1500 })),
      (sessions, times) => {
        const recorded: OpRecord[] = [];
        const changes: { t: number; by: number }[] = [];
        for (const [i, s] of sessions.entries()) {
          const name = `s:${i}`;
          const opened = s.at + s.ms;
          recorded.push(
            ...ops({
              step: 'open',
              session: name,
              t: opened,
              ms: s.ms,
              outcome: s.openBreaks ? 'broken' : 'ok',
            }),
          );
          changes.push({ t: s.at + s.acts * s.ms, by: 1 });
          if (!s.deletes || s.openBreaks) continue;
          const begun = opened + s.gap;
          const outcome = s.deleteBreaks ? 'broken' : 'ok';
          recorded.push(
            ...ops({ step: 'delete', session: name, t: begun + s.ms, ms: s.ms, outcome, status: 200 }),
          );
          changes.push({ t: begun + s.acts * s.ms, by: -1 });
        }
        const sorted = [...times].sort((a, b) => a - b);
        const { expected } = replay(recorded, [], sorted, forever);
        for (const [i, t] of sorted.entries()) {
          const registered = changes
            .filter((change) => change.t <= t)
            .reduce((sum, change) => sum + change.by, 0);
          const { min, max } = expected[i] ?? { min: NaN, max: NaN };
          assert.ok(min <= registered && registered <= max, `${min} <= ${registered} <= ${max} at ${t}`);
        }
        if (sessions.some((s) => s.openBreaks || (s.deletes && s.deleteBreaks))) return;
        const [end] = replay(recorded, [], [1e6], forever).expected;
        assert.equal(end?.min, end?.max);
      },
    ),
  );
});

test('counts tell opened, deleted, abandoned, refused and uncertain apart', () => {
  const ledger = new Ledger(forever);
  const recorded = [
    ...ops({ step: 'open', session: 'a', t: 10 }, { step: 'delete', session: 'a', t: 20, status: 200 }),
    ...ops(
      { step: 'open', session: 'b', t: 30 },
      { step: 'drop', session: 'b', t: 40, outcome: 'local', ms: 0 },
    ),
    ...ops({ step: 'refuse', session: 'c', t: 50, outcome: 'refused', status: 406 }),
    ...ops({ step: 'open', session: 'd', t: 60, outcome: 'broken' }),
  ];
  for (const op of recorded) {
    ledger.begin(op, op.t - op.ms);
    ledger.end(op, op.t - op.ms, op.t);
  }
  assert.deepEqual(ledger.counts, { opened: 2, deleted: 1, abandoned: 1, refused: 1, uncertain: 1 });
});
