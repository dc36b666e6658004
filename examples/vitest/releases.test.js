import { expect, onTestFinished, test } from 'vitest';
import { assertReleases, check } from 'mcp-retention';
import { startServer } from '../node-test/server.js';

const A_MINUTE = 60_000;

async function started(options) {
  const server = await startServer(options);
  onTestFinished(server.close);
  return server;
}

test('the server lets go of its sessions', { timeout: A_MINUTE }, async () => {
  const { url, transports } = await started();
  await assertReleases(url, { registry: transports, sessions: 50 });
});

test('what is known to leak, and how much', { timeout: A_MINUTE }, async () => {
  const { url, transports } = await started({ forget: false });
  const report = await check(url, { registry: transports, cases: ['delete'], sessions: 50 });
  expect(report.verdict).toBe('fail');
  expect(report.builds[0].cases[0].sessions.retentionDrift).toBeGreaterThan(0);
});
