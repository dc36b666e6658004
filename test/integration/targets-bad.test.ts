/** Targets that cannot be measured: one clear sentence, undecided, the recording kept. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { measure, statuses, suspectConfig, type Measured } from '../support/measure.ts';

/** Serves whatever `listener` answers, for the time of one measurement. */
async function against(listener: RequestListener, cases: readonly string[] = ['delete']): Promise<Measured> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await measure(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, { cases });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function undecided({ report, recording }: Measured, sentence: RegExp): void {
  assert.equal(report.verdict, 'inconclusive');
  const reasons = new Set(
    report.builds.flatMap((build) =>
      build.cases.flatMap((played) =>
        played.claims.filter((claim) => claim.promised).map((claim) => claim.reason),
      ),
    ),
  );
  assert.equal(reasons.size, 1, [...reasons].join('\n'));
  assert.match([...reasons][0] ?? '', sentence);
  assert.equal(recording.end?.reason, 'complete');
}

test('a page in HTML is no MCP server', async () => {
  const measured = await against((_, response) =>
    response.setHeader('content-type', 'text/html').end('<p>hello'),
  );
  undecided(measured, /does not open an MCP session: HTTP 200, .*text\/html/);
});

test('a redirect is not followed, and said', async () => {
  const measured = await against((_, response) =>
    response.writeHead(307, { location: 'http://127.0.0.1:1/mcp' }).end(),
  );
  undecided(measured, /does not open an MCP session: HTTP 307, .*127\.0\.0\.1/);
});

test('an answer that is no MCP', async () => {
  const measured = await against((_, response) =>
    response.setHeader('content-type', 'application/json').end('{"hello":"world"}'),
  );
  undecided(measured, /does not open an MCP session/);
});

test('a wrong path', async () => {
  const measured = await against((_, response) => response.writeHead(404).end('nothing here'));
  undecided(measured, /does not open an MCP session: HTTP 404/);
});

test('nobody listens', async () => {
  const measured = await measure('http://127.0.0.1:9/mcp', { cases: ['delete'] });
  undecided(measured, /does not accept connections on 127\.0\.0\.1:9/);
});

test('a server that hangs', async () => {
  const measured = await against(() => undefined);
  undecided(measured, /does not open an MCP session: no complete answer within 10000 ms/);
});

const program = (source: string): string =>
  JSON.stringify({
    version: 1,
    targets: {
      broken: { command: process.execPath, args: ['-e', source], url: 'http://127.0.0.1:{port}/mcp' },
    },
  });

test('a program that ends instead of starting is quoted', async () => {
  const config = program('console.error("no database"); process.exit(7)');
  const measured = await measure('broken', { config, cases: ['delete', 'reject'] });
  undecided(measured, /no database/);
});

test('a program that does not exist', async () => {
  const config = JSON.stringify({
    version: 1,
    targets: { broken: { command: 'no-such-program', url: 'http://127.0.0.1:{port}/mcp' } },
  });
  undecided(await measure('broken', { config, cases: ['delete'] }), /no-such-program/);
});

test('a server that dies in the middle of a case: the claim about serving fails, the rest is unmeasured', async () => {
  const config = suspectConfig('dies-after-delete');
  const { report, recording } = await measure('suspect', { config, cases: ['delete'], sessions: 20 });
  const found = statuses(report);
  assert.equal(found.get('survival.serves-after (delete)'), 'fail');
  assert.equal(found.get('delete.deregisters'), 'unmeasured');
  assert.equal(report.verdict, 'fail');
  assert.ok(recording.arms[0]?.targets.some((record) => record.event === 'died'));
});

test('an interrupted run leaves a whole recording that says so', async () => {
  const interrupt = new AbortController();
  const running = measure('suspect', {
    config: suspectConfig(null),
    cases: ['delete'],
    sessions: 100_000,
    signal: interrupt.signal,
  });
  setTimeout(() => interrupt.abort(), 1500);
  const { report, recording } = await running;
  assert.equal(recording.end?.reason, 'interrupted');
  assert.equal(report.verdict, 'inconclusive');
  assert.deepEqual(recording.damage, []);
});

test('a probe that is required and absent leaves the run undecided', async () => {
  const config = suspectConfig(null, 'none');
  const without = await measure('suspect', { config, cases: ['delete'], sessions: 20 });
  assert.equal(statuses(without.report).get('delete.deregisters'), 'not promised');
  assert.equal(without.report.verdict, 'pass');
  const required = await measure('suspect', { config, cases: ['delete'], sessions: 20, requireProbe: true });
  assert.equal(statuses(required.report).get('delete.deregisters'), 'unmeasured');
  assert.equal(required.report.verdict, 'inconclusive');
});
