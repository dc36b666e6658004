/** Servers that answer without a session id: nothing is expected of them but for the time of a request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ledger } from '../../src/ledger/ledger.ts';

const LAG = 300;
const session = 'load:0';

function ledgerAfter(...steps: [step: string, from: number, to: number][]): Ledger {
  const ledger = new Ledger({ idleSeconds: 1800, slackMs: 2000, lagMs: LAG });
  for (const [step, from, to] of steps) {
    ledger.begin({ session, step }, from);
    assert.deepEqual(ledger.expectedAt(from), { min: 0, max: 1 }, `${step} is being served`);
    ledger.end({ session, step, outcome: 'ok', status: 200, sid: false }, from, to);
  }
  return ledger;
}

test('after each answer, and the lag behind it, nothing is expected to be registered', () => {
  const ledger = ledgerAfter(
    ['open', 0, 10],
    ['initialized', 1000, 1010],
    ['call', 2000, 2010],
    ['delete', 3000, 3010],
  );
  assert.deepEqual(ledger.expectedAt(3010 + LAG - 1), { min: 0, max: 1 });
  assert.deepEqual(ledger.expectedAt(3010 + LAG), { min: 0, max: 0 });
  assert.deepEqual(ledger.counts, { opened: 0, deleted: 0, abandoned: 0, refused: 0, uncertain: 0 });
});

test('two requests of one client at once: one that ended says nothing of the other', () => {
  const ledger = ledgerAfter(['open', 0, 10]);
  ledger.begin({ session, step: 'call' }, 1000);
  ledger.begin({ session, step: 'ping' }, 1001);
  ledger.end({ session, step: 'ping', outcome: 'ok', status: 200 }, 1001, 1002);
  assert.deepEqual(ledger.expectedAt(5000), { min: 0, max: 1 });
  ledger.end({ session, step: 'call', outcome: 'broken' }, 1000, 6000);
  assert.deepEqual(ledger.expectedAt(6000 + LAG), { min: 0, max: 0 });
});
