/** Counts are judged only where they are the counts of what was played: everything else is unmeasured, with the reason. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { HttpTransport } from '../../src/client/http.ts';
import { McpSession } from '../../src/client/session.ts';
import { startSuspect, type RunningSuspect, type SuspectOptions } from '../fixtures/servers/suspect.ts';
import { balancer } from '../support/balancer.ts';
import { measure, statuses, suspectConfig, type Measured } from '../support/measure.ts';

const reasonOf = ({ report }: Measured, claim: string): string =>
  report.builds.flatMap((b) => b.cases.flatMap((c) => c.claims)).find((c) => c.id === claim)?.reason ?? '';

/** A suspect that runs already, with its probe in a folder of its own. */
async function withRunning(
  options: SuspectOptions,
  use: (suspect: RunningSuspect, probeDir: string) => Promise<void>,
): Promise<void> {
  const probeDir = mkdtempSync(join(tmpdir(), 'trust-'));
  const suspect = await startSuspect({ ...options, probeDir });
  try {
    await use(suspect, probeDir);
  } finally {
    await suspect.close();
    rmSync(probeDir, { recursive: true, force: true });
  }
}

test('cases on one running server do not count each other’s sessions', () =>
  withRunning({ maxSessions: 200 }, async ({ url }, probeDir) => {
    const { report } = await measure(url, {
      probeDir,
      cases: ['delete', 'abandon', 'reject', 'over-cap'],
      sessions: 40,
    });
    const found = statuses(report);
    assert.deepEqual(
      [...found].filter(([, status]) => status !== 'pass'),
      [],
    );
  }));

test('sessions of others before the case leave a pass unmeasured, and a leak failed', () =>
  withRunning({}, async ({ url }, probeDir) => {
    const transport = new HttpTransport({ url, headers: {}, timeoutMs: 5000 });
    for (let i = 0; i < 5; i++) await McpSession.open(transport);
    const measured = await measure(url, { probeDir, cases: ['delete'], sessions: 20 });
    assert.equal(statuses(measured.report).get('delete.deregisters'), 'unmeasured');
    assert.match(reasonOf(measured, 'delete.deregisters'), /^5 sessions of others were registered before/);
    await transport.close();
  }));

test('a probe with an old snapshot is not believed', async () => {
  const measured = await measure('suspect', {
    config: suspectConfig('probe-stale'),
    cases: ['delete'],
    sessions: 20,
  });
  const found = statuses(measured.report);
  assert.equal(found.get('delete.deregisters'), 'unmeasured');
  assert.equal(found.get('identity.holds (delete)'), 'unmeasured');
  assert.match(reasonOf(measured, 'delete.deregisters'), /old snapshot/);
});

test('several workers without affinity are told as routing, not as a leak', async (t) => {
  const workers = await Promise.all([startSuspect({}), startSuspect({})]);
  t.after(() => Promise.all(workers.map((worker) => worker.close())));
  const measured = await measure(await balancer(t, workers), { cases: ['delete', 'abandon'], sessions: 30 });
  assert.match(
    reasonOf(measured, 'delete.accepted'),
    /got 404 right after their session was opened: several workers without session affinity/,
  );
  const failed = [...statuses(measured.report)].filter(([, status]) => status === 'fail');
  assert.deepEqual([measured.report.verdict, failed], ['inconclusive', []]);
});

// Which worker a connection goes to is the kernel's choice: on a busy machine one of them may get them all.
test('a real server with two workers is not accused', async () => {
  const config = 'version: 1\ntargets: { two: { package: "python:mcp@1.30.0", workers: 2 } }';
  const measured = await measure('two', { config, cases: ['delete', 'abandon'], sessions: 30 });
  const failed = [...statuses(measured.report)].filter(([, status]) => status === 'fail');
  assert.deepEqual(failed, []);
});

test('a stateless server has nothing to retain', async () => {
  const config = 'version: 1\ntargets: { stateless: { package: "python:mcp@1.30.0", stateless: true } }';
  const measured = await measure('stateless', { config, sessions: 20 });
  const found = [...statuses(measured.report)];
  assert.deepEqual(
    found.filter(([, status]) => status === 'fail' || status === 'unmeasured'),
    [],
  );
  assert.equal(measured.report.verdict, 'pass');
  assert.match(reasonOf(measured, 'delete.accepted'), /keeps no sessions/);
});
