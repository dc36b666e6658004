/** The load scripts without k6: their logic over real sockets, with stand-ins for k6's modules. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../fixtures/servers/speaker.ts';
import { measure, statuses, suspectConfig } from '../support/measure.ts';
import { ranBy } from '../support/k6/run.ts';
import { environmentOf, SCRIPTED } from '../support/k6/scripts.ts';
import { served } from '../support/k6/served.ts';

const SESSIONS = 30;

const claimsOf = (report: Parameters<typeof statuses>[0]) => [...statuses(report)].sort();

describe('on a clean server', { concurrency: 2 }, () => {
  for (const definition of SCRIPTED)
    test(`${definition.id}: the same ledger and the same claims as check`, async (t) => {
      const config = suspectConfig(null);
      const { url, metrics, counts } = await served(t, 'suspect', definition.settings, config);
      const env = { TARGET: url, METRICS: metrics, SESSIONS: String(SESSIONS), ...environmentOf(definition) };
      const ran = await ranBy('stand-in', definition.id, env);
      assert.ok(ran.report && ran.played, ran.stderr);
      const own = await measure('suspect', { config, cases: [definition.id], sessions: SESSIONS });
      assert.deepEqual(claimsOf(ran.report), claimsOf(own.report), ran.stderr);
      const expected = own.report.builds[0]?.cases[0]?.ledger;
      const flooded = own.recording.arms[0]?.floods[0]?.sent ?? 0;
      assert.ok(expected);
      assert.deepEqual(ran.played.ledger, { ...expected, refused: expected.refused + flooded });
      assert.deepEqual([ran.code, ran.report.verdict], [0, 'pass'], ran.stderr);
      assert.equal((await counts()).registrations, ran.played.ledger.opened);
    });

  for (const script of ['mixed', 'soak'])
    test(`${script} passes, and leaves what it abandoned`, async (t) => {
      const { url, metrics, counts } = await served(t, 'suspect', {}, suspectConfig(null));
      const ran = await ranBy('stand-in', script, {
        TARGET: url,
        METRICS: metrics,
        RATE: '20',
        SESSIONS: '60',
      });
      assert.deepEqual([ran.code, ran.report?.verdict], [0, 'pass'], ran.stderr);
      const { registered, registrations } = await counts();
      assert.equal(registrations, ran.played?.ledger.opened);
      assert.equal(registered, ran.played?.ledger.abandoned);
      assert.ok(registered > 0);
    });
});

// The idle timeout passes within the load: sessions that were abandoned at its beginning expire.
const EXPIRING = { idleTimeoutSeconds: 2 };
const ARRIVALS = { RATE: '20', SESSIONS: '80', MIX: 'delete=5,abandon=3' };

test('mixed: sessions that expire hide none that are kept', async (t) => {
  const { url, metrics } = await served(t, 'suspect', EXPIRING, suspectConfig('delete-keeps-one-in'));
  const ran = await ranBy('stand-in', 'mixed', { ...ARRIVALS, TARGET: url, METRICS: metrics });
  assert.equal(ran.code, 99, ran.stderr);
  assert.notEqual(ran.report?.verdict, 'pass');
  const claim = ran.played?.claims.find(({ id }) => id === 'delete.deregisters');
  assert.match(claim?.reason ?? '', /more than DELETEs and expirations leave|are kept that should be gone/);
});

test('mixed: expiry of what was abandoned accuses nobody, and kinds that do not arrive are not asked for', async (t) => {
  const { url, metrics, counts } = await served(t, 'suspect', EXPIRING, suspectConfig(null));
  for (const MIX of [ARRIVALS.MIX, 'abandon=1']) {
    const ran = await ranBy('stand-in', 'mixed', { ...ARRIVALS, MIX, TARGET: url, METRICS: metrics });
    assert.deepEqual([ran.code, ran.report?.verdict], [0, 'pass'], ran.stderr);
    await eventually('all have expired', async () => (await counts()).registered === 0);
  }
});

test('without METRICS the registry is not promised, and says why', async (t) => {
  const { url } = await served(t, 'suspect', {}, suspectConfig('delete-keeps-entry'));
  const ran = await ranBy('stand-in', 'delete', { TARGET: url, SESSIONS: '5' });
  assert.deepEqual([ran.code, ran.report?.verdict], [0, 'pass'], ran.stderr);
  const claim = ran.played?.claims.find(({ id }) => id === 'delete.deregisters');
  assert.deepEqual([claim?.status, claim?.promised], ['unmeasured', false]);
  assert.match(claim?.reason ?? '', /METRICS is not set/);
});

test('what others left may hide what is kept: the claims about the registry are not decided, and the exit code says so', async (t) => {
  const { url, metrics } = await served(t, 'suspect', {}, suspectConfig(null));
  const left = await ranBy('stand-in', 'abandon', { TARGET: url, SESSIONS: '5', CAP: '1000' });
  assert.equal(left.code, 0, left.stderr);
  const ran = await ranBy('stand-in', 'delete', { TARGET: url, METRICS: metrics, SESSIONS: '5' });
  assert.deepEqual([ran.code, ran.report?.verdict], [99, 'inconclusive'], ran.stderr);
  const undecided = ran.played?.claims.filter(({ status }) => status === 'unmeasured') ?? [];
  assert.deepEqual(
    undecided.map(({ id }) => id),
    ['delete.deregisters'],
  );
  assert.match(undecided[0]?.reason ?? '', /\d+ sessions were registered before/);
});

test('bad input is one sentence, before anything is sent', async (t) => {
  const { url, counts } = await served(t, 'suspect', {}, suspectConfig(null));
  const tries: [string, Record<string, string>, RegExp][] = [
    ['delete', {}, /TARGET is not set/],
    ['delete', { TARGET: 'http://example.com/mcp' }, /allow it with ALLOW_HOST=example\.com/],
    ['over-cap', { TARGET: url }, /CAP is not set/],
    ['keepalive', { TARGET: url }, /IDLE_TIMEOUT is not set/],
    ['delete', { TARGET: url, METRICS: url }, /METRICS answers HTTP/],
    ['delete', { TARGET: url, METRICS: 'http://127.0.0.1:1/metrics' }, /METRICS does not answer/],
    ['mixed', { TARGET: url, DURATION: '500ms' }, /DURATION is no length of time of at least 1s/],
    ['mixed', { TARGET: url.replace('/mcp', '/other') }, /HTTP 404\): is TARGET its MCP endpoint/],
  ];
  for (const [script, env, says] of tries) {
    const ran = await ranBy('stand-in', script, env);
    assert.equal(ran.code, 108);
    assert.match(ran.stderr, says);
  }
  assert.equal((await counts()).registrations, 0);
});

test('counts of another process, or of an old snapshot, are refused before the load', async (t) => {
  const [leaking, idle, stale] = await Promise.all([
    served(t, 'suspect', {}, suspectConfig('delete-keeps-entry')),
    served(t, 'suspect', {}, suspectConfig(null)),
    served(t, 'suspect', {}, suspectConfig('probe-stale')),
  ]);
  for (const [url, metrics] of [
    [leaking.url, idle.metrics],
    [stale.url, stale.metrics],
  ] as const) {
    const ran = await ranBy('stand-in', 'delete', { TARGET: url, METRICS: metrics, SESSIONS: '5' });
    assert.equal(ran.code, 108, ran.stdout);
    assert.match(ran.stderr, /METRICS did not see the session that was just opened/);
  }
});

test('a registry that cannot be read any more at the end of a mix leaves a report', async (t) => {
  const { url, metrics } = await served(t, 'suspect', {}, suspectConfig('probe-dies'));
  const env = { TARGET: url, METRICS: metrics, RATE: '20', SESSIONS: '40' };
  const ran = await ranBy('stand-in', 'mixed', env);
  assert.deepEqual([ran.code, ran.report?.verdict], [99, 'inconclusive'], ran.stderr);
  const survival = ran.played?.claims.find(({ id }) => id === 'survival.serves-after');
  assert.equal(survival?.status, 'pass');
});
