/** What keeps claims from being asked of a server, or a run from being whole: told as such, never as pass or fail. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test, type TestContext } from 'node:test';
import { reportSchema } from '../../src/verdict/schema.ts';
import { startStub, type Stub } from '../fixtures/servers/stub.ts';
import { balancer } from '../support/balancer.ts';
import { eventually } from '../support/client.ts';
import { measure } from '../support/measure.ts';
import { K6, ranBy, type Ran, type Runner } from '../support/k6/run.ts';

const WITHOUT_K6 = K6 === null && 'no k6 (K6_BIN)';
const RUNNERS = ['stand-in', 'k6'] as const satisfies readonly Runner[];
const skipOf = (runner: Runner): string | false => runner === 'k6' && WITHOUT_K6;

async function stubs(t: TestContext, options: Parameters<typeof startStub>[0], count = 1): Promise<Stub[]> {
  const started = await Promise.all(Array.from({ length: count }, () => startStub(options)));
  t.after(() => Promise.all(started.map((stub) => stub.close())));
  return started;
}

const withStatus = (ran: Ran, status: string): string[] =>
  (ran.played?.claims ?? []).filter((claim) => claim.promised && claim.status === status).map(({ id }) => id);

for (const runner of RUNNERS) {
  test(
    `${runner}: a server without session ids is asked only whether it serves, as by check`,
    { skip: skipOf(runner) },
    async (t) => {
      const [stub] = await stubs(t, { sessionless: true });
      assert.ok(stub);
      for (const script of ['delete', 'abandon', 'reject']) {
        const ran = await ranBy(runner, script, { TARGET: stub.url, SESSIONS: '10' });
        assert.deepEqual([ran.code, ran.report?.verdict], [0, 'pass'], ran.stderr);
        assert.deepEqual(withStatus(ran, 'pass'), ['survival.serves-after']);
        assert.deepEqual([ran.played?.ledger.opened, ran.played?.ledger.abandoned], [0, 0]);
        const reasons = (ran.played?.claims ?? []).filter(({ promised }) => !promised);
        assert.ok(reasons.every(({ reason }) => /initialize without a session id/.test(reason)));
      }
      const own = await measure(stub.url, { cases: ['delete'], sessions: 10 });
      assert.equal(own.report.verdict, 'pass');
    },
  );

  test(
    `${runner}: requests that go to another worker are told as routing`,
    { skip: skipOf(runner) },
    async (t) => {
      const url = await balancer(t, await stubs(t, {}, 2));
      const ran = await ranBy(runner, 'delete', { TARGET: url, SESSIONS: '20' });
      assert.deepEqual([ran.code, ran.report?.verdict], [99, 'inconclusive'], ran.stdout);
      assert.deepEqual(withStatus(ran, 'fail'), []);
      const accepted = ran.played?.claims.find(({ id }) => id === 'delete.accepted');
      assert.match(accepted?.reason ?? '', /got 404 right after their session was opened: several workers/);
    },
  );

  test(`${runner}: a server that declines DELETE is told so`, { skip: skipOf(runner) }, async (t) => {
    const [stub] = await stubs(t, { declineDelete: 405 });
    const ran = await ranBy(runner, 'delete', { TARGET: stub?.url ?? '', SESSIONS: '10' });
    assert.deepEqual([ran.code, ran.report?.verdict], [99, 'fail'], ran.stdout);
    assert.deepEqual(withStatus(ran, 'fail'), ['delete.accepted']);
    for (const claim of ['delete.id-refused', 'delete.repeat-settles', 'delete.reopens'])
      assert.match(
        ran.played?.claims.find(({ id }) => id === claim)?.reason ?? '',
        /declines DELETE \(405\): there are no deleted sessions/,
      );
  });
}

for (const [script, more] of [
  ['delete', ['-e', 'SESSIONS=100000']],
  ['mixed', ['-e', 'DURATION=10m']],
] as const)
  test(
    `an interrupted run of ${script} is not whole, and has not passed`,
    { skip: WITHOUT_K6 },
    async (t) => {
      const [stub] = await stubs(t, {});
      assert.ok(stub);
      const folder = mkdtempSync(join(tmpdir(), 'mcpr-k6-cut-'));
      t.after(() => rmSync(folder, { recursive: true, force: true }));
      const json = join(folder, 'report.json');
      const file = fileURLToPath(new URL(`../../loadtests/${script}.ts`, import.meta.url));
      const given = [
        'run',
        '--quiet',
        '--address',
        '',
        file,
        '-e',
        `TARGET=${stub.url}`,
        '-e',
        `JSON=${json}`,
      ];
      const child = spawn(K6 ?? '', [...given, ...more], { stdio: 'ignore' });
      await eventually(() => stub.counts().opened > 20, 'the load has begun');
      child.kill('SIGINT');
      const [code] = (await once(child, 'exit')) as [number];
      assert.equal(code, 105);
      const report = reportSchema.parse(JSON.parse(readFileSync(json, 'utf8')));
      assert.deepEqual([report.complete, report.verdict], [false, 'inconclusive']);
      assert.match(report.notices[0]?.text ?? '', /^The load was cut before its end/);
    },
  );

test(
  'options of the command line that the scripts cannot do with are refused',
  { skip: WITHOUT_K6 },
  async (t) => {
    const [stub] = await stubs(t, {});
    const target = { TARGET: stub?.url ?? '', SESSIONS: '5' };
    const tags = await ranBy('k6', 'delete', target, ['--system-tags', 'url,status']);
    assert.equal(tags.code, 108);
    assert.match(tags.stderr, /--system-tags leaves out check/);
    for (const script of ['delete', 'mixed']) {
      const own = await ranBy('k6', script, target, ['--vus', '2', '--iterations', '4']);
      assert.equal(own.code, 108, own.stderr);
      assert.match(own.stderr, /options of the command line took the place of the script’s own/);
      const bare = await ranBy('k6', script, { ...target, DURATION: '1s' }, ['--no-setup']);
      assert.equal(bare.code, 108, bare.stderr);
      assert.match(bare.stderr, /--no-setup leaves out the first look/);
      assert.equal(bare.stderr.match(/TypeError/), null);
      const uneven = ['--execution-segment', '0:1/3', '--execution-segment-sequence', '0,1/3,1'];
      const split = await ranBy('k6', script, { ...target, DURATION: '1s' }, uneven);
      assert.equal(split.code, 108, split.stderr);
      assert.match(split.stderr, /the execution segment is no equal share of the whole/);
    }
  },
);

test('remote write and headers for the target go together', { skip: WITHOUT_K6 }, async (t) => {
  const seen = { written: 0, authorized: 0, others: 0 };
  const listening = async (server: Server): Promise<string> => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const sink = createServer((incoming, answer) => {
    incoming.on('data', (chunk: Buffer) => (seen.written += chunk.length));
    incoming.on('end', () => answer.writeHead(204).end());
  });
  const [stub] = await stubs(t, {});
  assert.ok(stub);
  const guarded = createServer((incoming, outgoing) => {
    if (incoming.headers.authorization === 'Bearer T') seen.authorized++;
    else seen.others++;
    const { method = 'GET', headers } = incoming;
    const onward = request(stub.url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  const target = {
    TARGET: `${await listening(guarded)}/mcp`,
    SESSIONS: '5',
    REQUEST_HEADERS: '{"Authorization":"Bearer T"}',
    K6_PROMETHEUS_RW_SERVER_URL: `${await listening(sink)}/api/v1/write`,
  };
  const ran = await ranBy('k6', 'delete', target, ['-o', 'experimental-prometheus-rw']);
  assert.equal(ran.code, 0, ran.stderr);
  assert.ok(seen.written > 0, ran.stderr);
  assert.ok(seen.authorized > 0);
  assert.equal(seen.others, 0);
});
