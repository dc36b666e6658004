/** Servers whose answers are not known beforehand: judged by what HTTP shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTypescriptSdk } from '../fixtures/servers/typescript-sdk.ts';
import { measure, statuses } from '../support/measure.ts';

test("the TypeScript SDK's server by URL: HTTP is judged, registry claims are listed as not promised", async () => {
  const server = await startTypescriptSdk({ deletesFromMap: true });
  try {
    const { report } = await measure(server.url, { sessions: 60 });
    const found = statuses(report);
    const of = (status: string): string[] =>
      [...found].filter(([, value]) => value === status).map(([claim]) => claim);
    assert.deepEqual(of('fail'), []);
    assert.deepEqual(of('unmeasured'), []);
    for (const claim of [
      'delete.accepted',
      'delete.id-refused',
      'delete.repeat-settles',
      'delete.reopens',
      'abandon.alive-within-timeout',
      'reject.refused',
      'reject.id-unusable',
      'survival.serves-after (delete)',
    ])
      assert.equal(found.get(claim), 'pass', claim);
    for (const claim of [
      'delete.deregisters',
      'reject.registers-nothing',
      'identity.holds (delete)',
      'abandon.bounded',
      'over-cap.refuses',
      'keepalive.stream-survives',
    ])
      assert.equal(found.get(claim), 'not promised', claim);
    assert.equal(report.verdict, 'pass');
    // The tool leaves nothing behind on a server that someone else runs, abandoned sessions included.
    assert.equal(server.held(), 0);
  } finally {
    await server.close();
  }
});

test('the same server declared with a policy that it does not keep', async () => {
  const server = await startTypescriptSdk({ deletesFromMap: true });
  const config = JSON.stringify({
    version: 1,
    targets: { mine: { url: server.url, declared: { idleTimeout: 'none', maxSessions: 'none' } } },
  });
  try {
    const { report } = await measure('mine', { config, cases: ['abandon'], sessions: 20 });
    assert.equal(statuses(report).get('abandon.bounded'), 'fail');
  } finally {
    await server.close();
  }
});
