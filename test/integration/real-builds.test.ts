/** The four built-in builds, as published: what the demo shows, judged by exact counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN } from '../../src/cli/measure.ts';
import { measure, statuses, type Measured } from '../support/measure.ts';

const AFFECTED = ['python:mcp@1.29.1', 'python:mcp@2.1.1'];

/** One build at a time here, so that timeouts of one second mean something on a busy machine. */
async function measured(build: string): Promise<Measured & { found: Map<string, string> }> {
  const result = await measure(build, { sessions: 60 });
  return { ...result, found: statuses(result.report) };
}

const sessionsOf = ({ report }: Measured, id: string) => {
  const played = report.builds[0]?.cases.find((candidate) => candidate.id === id);
  assert.ok(played?.sessions, `${id} was counted`);
  return { ...played.sessions, ledger: played.ledger };
};

for (const build of BUILT_IN) {
  const affected = AFFECTED.includes(build);
  test(`${build}: ${affected ? 'affected' : 'patched'}`, async () => {
    const result = await measured(build);
    const { found } = result;
    const failed = [...found].filter(([, status]) => status === 'fail').map(([claim]) => claim);
    assert.deepEqual(
      [...found].filter(([, status]) => status === 'unmeasured'),
      [],
    );
    assert.equal(found.get('abandon-expiry.reclaimed'), 'pass');
    const deleted = sessionsOf(result, 'delete');
    const refused = sessionsOf(result, 'reject');
    if (!affected) {
      assert.deepEqual(failed, []);
      assert.deepEqual([deleted.registered, refused.registered], [0, 0]);
      return;
    }
    assert.deepEqual(failed.sort(), [
      'abandon.bounded',
      'delete-expiry.reclaimed',
      'delete.deregisters',
      'keepalive.call-completes',
      'keepalive.stream-survives',
      'over-cap.refuses',
      'reject.id-unusable',
      'reject.registers-nothing',
    ]);
    // DELETE: every session, and all of them remnants. Refusals: as many, and all of them live.
    assert.equal(deleted.retentionDrift, deleted.registered);
    assert.equal(deleted.registered, 160);
    assert.equal(deleted.remnants, deleted.registered);
    assert.equal(refused.registered, 100);
    assert.equal(refused.remnants, 0);
    for (const { identityDrift } of [deleted, refused]) assert.equal(identityDrift, 0);
    assert.equal(sessionsOf(result, 'delete-expiry').registered, 60);
  });
}

test('a patched build without timeout and cap is as unbounded as an affected one', async () => {
  const config =
    'version: 1\ntargets: { unbounded: { package: "python:mcp@1.30.0", idleTimeout: none, maxSessions: none } }';
  const { report } = await measure('unbounded', { config, cases: ['abandon'], sessions: 20 });
  assert.equal(statuses(report).get('abandon.bounded'), 'fail');
});

test('the version published last is measured like any other', async () => {
  const { report } = await measure('python:mcp@latest', {
    cases: ['delete', 'abandon', 'reject'],
    sessions: 40,
  });
  assert.match(report.builds[0]?.version ?? '', /^\d+\.\d+/);
  const open = [...statuses(report)].filter(([, status]) => status === 'unmeasured');
  assert.deepEqual(open, []);
});
