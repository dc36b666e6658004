/** The ledger beside a load that runs for days: what it forgets, what it doubts, and when it starts anew. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Ledger, type LedgerPolicy } from '../../src/ledger/ledger.ts';

const forever: LedgerPolicy = { idleSeconds: Infinity, slackMs: 0, lagMs: 0 };
const oneSecond: LedgerPolicy = { idleSeconds: 1, slackMs: 200, lagMs: 50 };

type Op = Parameters<Ledger['end']>[0];

const answers: Readonly<Record<string, Omit<Op, 'session' | 'step'>>> = {
  ok: { outcome: 'ok', status: 200, sid: true },
  broken: { outcome: 'broken' },
  local: { outcome: 'local' },
  over: { outcome: 'refused', status: 503 },
  unknown: { outcome: 'refused', status: 404 },
};

function play(ledger: Ledger, session: string, step: string, from: number, to: number, how = 'ok'): void {
  ledger.begin({ session, step }, from);
  ledger.end({ session, step, ...(answers[how] ?? { outcome: 'ok' }) }, from, to);
}

interface Event {
  readonly t: number;
  readonly run: (ledger: Ledger) => void;
}

/** A session as a load plays it; its last event is the end of its plan. */
const sessions = fc.record({
  at: fc.integer({ min: 0, max: 3000 }),
  gap: fc.integer({ min: 1, max: 900 }),
  ms: fc.integer({ min: 1, max: 400 }),
  opening: fc.constantFrom('ok', 'ok', 'ok', 'broken', 'local', 'over'),
  ending: fc.constantFrom('ok', 'broken', 'unknown', 'abandon', 'abandon'),
  streams: fc.boolean(),
});

type Played = typeof sessions extends fc.Arbitrary<infer T> ? T : never;

function eventsOf(played: Played, name: string, over: (ledger: Ledger) => void): Event[] {
  const { at, gap, ms, opening, ending, streams } = played;
  const events: Event[] = [];
  let t = at;
  const step = (what: string, how: string): void => {
    const [from, to] = [t, t + ms];
    events.push({ t: from, run: (ledger) => ledger.begin({ session: name, step: what }, from) });
    events.push({
      t: to,
      run: (ledger) =>
        ledger.end({ session: name, step: what, ...(answers[how] ?? { outcome: 'ok' }) }, from, to),
    });
    t = to + gap;
  };
  const mark = (what: string): void => {
    const now = t;
    events.push({
      t: now,
      run: (ledger) => ledger.end({ session: name, step: what, outcome: 'local' }, now, now),
    });
  };
  step('open', opening);
  if (opening === 'ok') {
    if (streams) step('stream', 'ok');
    step('call', 'ok');
    if (ending === 'abandon') mark('drop');
    else step('delete', ending);
    if (streams) mark('stream-end');
  }
  events.push({ t, run: over });
  return events;
}

/** Runs the events and reads what is expected every 50 ms. */
function readings(
  policy: LedgerPolicy,
  all: readonly Played[],
  over: (name: string) => (ledger: Ledger) => void,
  others: readonly Event[],
): string[] {
  const ledger = new Ledger(policy);
  const read: string[] = [];
  const reading = (t: number): Event => ({
    t,
    run: () => {
      const { min, max } = ledger.expectedAt(t);
      read.push(`${t}: ${min}..${max}`);
    },
  });
  const events = [
    ...all.flatMap((played, i) => eventsOf(played, `s:${i}`, over(`s:${i}`))),
    ...others,
    ...Array.from({ length: 200 }, (_, i) => reading(i * 50)),
  ];
  for (const event of events.sort((a, b) => a.t - b.t)) event.run(ledger);
  return [...read, JSON.stringify(ledger.counts)];
}

for (const [what, policy] of [
  ['an idle timeout', oneSecond],
  ['no idle timeout', forever],
] as const)
  test(`property: with ${what}, forgetting sessions that are over changes no answer`, () => {
    fc.assert(
      fc.property(
        fc.array(sessions, { maxLength: 20 }),
        fc.array(fc.integer({ min: 0, max: 6000 }), { maxLength: 3 }),
        fc.array(fc.integer({ min: 0, max: 6000 }), { maxLength: 2 }),
        (all, doubts, restarts) => {
          const others: Event[] = [
            ...doubts.map((t) => ({ t, run: (ledger: Ledger) => ledger.doubt(t) })),
            ...restarts.map((t) => ({ t, run: (ledger: Ledger) => ledger.restarted(t - 100, t - 50) })),
          ];
          // No restart is told of more than 100 ms late.
          const settling = Array.from({ length: 100 }, (_, i) => ({
            t: i * 70,
            run: (ledger: Ledger) => ledger.settle(i * 70 - 100),
          }));
          const kept = readings(policy, all, () => () => undefined, others);
          const forgotten = readings(policy, all, (name) => (ledger) => ledger.forget(name), [
            ...others,
            ...settling,
          ]);
          assert.deepEqual(forgotten, kept);
        },
      ),
    );
  });

for (const [what, policy] of [
  ['an idle timeout of 1 s', oneSecond],
  ['an idle timeout of 30 min', { ...oneSecond, idleSeconds: 1800 }],
  ['no idle timeout', forever],
] as const)
  test(`20,000 sessions deleted or abandoned, with ${what}: memory holds those that may be there`, () => {
    const ledger = new Ledger(policy);
    let most = 0;
    for (let i = 0; i < 20_000; i++) {
      const t = i * 200;
      play(ledger, `s:${i}`, 'open', t, t + 10);
      play(ledger, `s:${i}`, 'call', t + 20, t + 30);
      if (i % 4 === 0) ledger.end({ session: `s:${i}`, step: 'drop', outcome: 'local' }, t + 40, t + 40);
      else play(ledger, `s:${i}`, 'delete', t + 40, t + 50);
      ledger.forget(`s:${i}`);
      ledger.settle(t - 2000);
      const { max } = ledger.expectedAt(t + 150);
      // An entry and two timers for each, and void timers that are not worth a pass.
      const bound = policy === forever ? 100 : 6 * max + 2500;
      assert.ok(ledger.held <= bound, `${ledger.held} held, at most ${max} expected, at session ${i}`);
      most = Math.max(most, ledger.held);
    }
    const { max } = ledger.expectedAt(20_000 * 200);
    assert.equal(max, policy.idleSeconds === 1 ? 1 : policy === forever ? 5000 : 2250);
    assert.ok(most > 0);
  });

test('in doubt, only what has answered since is sure to be there; trust takes the doubt back', () => {
  const ledger = new Ledger(forever);
  for (const name of ['a', 'b', 'c']) play(ledger, name, 'open', 0, 10);
  ledger.forget('c');
  ledger.doubt(20);
  assert.deepEqual(ledger.expectedAt(21), { min: 0, max: 3 });
  play(ledger, 'a', 'call', 30, 40);
  play(ledger, 'd', 'open', 40, 50);
  assert.deepEqual(ledger.expectedAt(51), { min: 2, max: 4 });
  play(ledger, 'a', 'delete', 60, 70);
  assert.deepEqual(ledger.expectedAt(71), { min: 1, max: 3 });
  ledger.trust();
  assert.deepEqual(ledger.expectedAt(72), { min: 3, max: 3 });
});

test('an answer to what was asked before the doubt proves nothing', () => {
  const ledger = new Ledger(forever);
  play(ledger, 'a', 'open', 0, 10);
  ledger.begin({ session: 'a', step: 'call' }, 15);
  ledger.doubt(20);
  ledger.end({ session: 'a', step: 'call', outcome: 'ok', status: 200 }, 15, 25);
  assert.deepEqual(ledger.expectedAt(26), { min: 0, max: 1 });
});

test('a restart takes what was opened before it, keeps what was opened after it, and guesses nothing between', () => {
  const ledger = new Ledger(forever);
  play(ledger, 'before', 'open', 0, 10);
  play(ledger, 'forgotten', 'open', 0, 10);
  ledger.forget('forgotten');
  play(ledger, 'between', 'open', 95, 105);
  play(ledger, 'after', 'open', 120, 130);
  ledger.begin({ session: 'opening', step: 'open' }, 140);
  ledger.restarted(100, 110);
  assert.deepEqual(ledger.expectedAt(150), { min: 1, max: 3 });
  play(ledger, 'between', 'call', 160, 170);
  play(ledger, 'before', 'call', 160, 170, 'unknown');
  ledger.end({ session: 'opening', step: 'open', outcome: 'ok', sid: true }, 140, 170);
  assert.deepEqual(ledger.expectedAt(180), { min: 3, max: 3 });
});

test('what answers its opening after the end of the process was noticed had come from it', () => {
  const ledger = new Ledger(forever);
  ledger.begin({ session: 'a', step: 'open' }, 0);
  ledger.reset();
  ledger.end({ session: 'a', step: 'open', outcome: 'ok', sid: true }, 0, 10);
  assert.deepEqual(ledger.expectedAt(20), { min: 0, max: 0 });
  assert.equal(ledger.counts.opened, 1);
});
