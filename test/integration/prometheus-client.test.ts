/** Reading Prometheus' HTTP API: credentials that reach it and nobody else, and answers that are none. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { PrometheusClient, PrometheusError, stepOf } from '../../src/prometheus/client.ts';
import { UsageError } from '../../src/targets/target.ts';
import { cli, inFolder } from '../support/cli.ts';

const EMPTY = { status: 'success', data: { resultType: 'matrix', result: [] } };

async function answering(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  use: (port: number) => Promise<void>,
): Promise<void> {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const clientOf = (url: string, headers: Readonly<Record<string, string>> = {}): PrometheusClient =>
  new PrometheusClient({ url, headers, signal: new AbortController().signal });

test('credentials are sent, and shown nowhere', async () => {
  const seen: IncomingMessage[] = [];
  await answering(
    (request, response) => {
      seen.push(request);
      response.end(JSON.stringify(EMPTY));
    },
    async (port) => {
      const client = clientOf(`http://me:p%40ss%E2%82%AC@127.0.0.1:${port}/prefix/`, {
        'X-Scope-OrgID': 'team',
      });
      assert.deepEqual(await client.raw('up{job="a"}', 1000.5, 59.2), []);
      assert.equal(client.shown, `http://127.0.0.1:${port}/prefix`);
      const [request] = seen;
      assert.equal(request?.headers.authorization, `Basic ${Buffer.from('me:p@ss€').toString('base64')}`);
      assert.equal(request.headers['x-scope-orgid'], 'team');
      const url = new URL(request.url ?? '', 'http://x');
      assert.equal(url.pathname, '/prefix/api/v1/query');
      assert.equal(url.searchParams.get('query'), 'up{job="a"}[60s]');
    },
  );
});

const resultOf = (...result: readonly unknown[]): string =>
  JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });

const REFUSED: readonly (readonly [string, number, string, RegExp])[] = [
  ['asks for credentials', 401, 'no', /asks for credentials \(HTTP 401\): give them by --header/],
  ['is not Prometheus', 200, '<html>', /does not answer as Prometheus does/],
  ['is another JSON', 200, '{}', /does not answer as Prometheus does/],
  ['is elsewhere', 404, 'not found', /answers HTTP 404: give the address/],
  ['redirects', 302, '', /answers HTTP 302/],
  ['is not well', 502, '', /answers HTTP 502: is Prometheus well/],
  ['has a result without labels', 200, resultOf({ value: [1, '1'] }), /does not answer as Prometheus does/],
  ['has a label of a number', 200, resultOf({ metric: { a: 1 }, value: [1, '1'] }), /does not answer as/],
  ['has a scalar', 200, resultOf(1, '1'), /does not answer as Prometheus does/],
  ['has samples that are none', 200, resultOf({ metric: {}, values: [[1]] }), /does not answer as/],
  [
    'refuses the query',
    422,
    JSON.stringify({ status: 'error', error: 'too many samples' }),
    /too many samples/,
  ],
];

for (const [what, status, body, sentence] of REFUSED)
  test(`one that ${what} is named in one sentence`, async () => {
    await answering(
      (_request, response) => response.writeHead(status).end(body),
      async (port) => {
        const asked = clientOf(`http://u:hunter2@127.0.0.1:${port}`).raw('up', 1, 1);
        await assert.rejects(asked, (error: Error) => {
          assert.ok(error instanceof PrometheusError);
          assert.match(error.message, sentence);
          assert.doesNotMatch(error.message, /hunter2/);
          return true;
        });
      },
    );
  });

test('an address that is none, and one where nobody is', async () => {
  for (const url of ['prometheus:9090', 'ftp://x', 'http://x/?a=b', 'http://u:%zz@x', ''])
    assert.throws(() => clientOf(url), UsageError, url);
  await inFolder(async (folder) => {
    const { code, stderr } = await cli(
      ['check', '--from-prometheus', 'http://u:hunter2@127.0.0.1:1', '--run', 'r'],
      folder,
    );
    assert.equal(code, 3);
    assert.match(stderr, /Prometheus at http:\/\/127\.0\.0\.1:1 cannot be read: ECONNREFUSED/);
    assert.doesNotMatch(stderr, /hunter2/);
  });
});

test('one that never answers is waited for until the deadline, or the interrupt', async () => {
  const seen: unknown[] = [];
  await answering(
    (request) => void seen.push(request),
    async (port) => {
      const url = `http://127.0.0.1:${port}`;
      const [signal, interrupt] = [new AbortController().signal, new AbortController()];
      const hasty = new PrometheusClient({ url, headers: {}, signal, deadlineMs: 200 });
      await assert.rejects(hasty.raw('up', 1, 1), {
        name: 'PrometheusError',
        message: `Prometheus at ${url} cannot be read: no answer within 0.2 s.`,
      });
      const patient = new PrometheusClient({ url, headers: {}, signal: interrupt.signal });
      const asked = patient.raw('up', 1, 1);
      interrupt.abort();
      await assert.rejects(asked, /interrupted while Prometheus was being read/);
      await assert.rejects(patient.raw('up', 1, 1), /interrupted/);
    },
  );
});

test('a range is covered whole, to its very end', async () => {
  const asked: URLSearchParams[] = [];
  const spans = [
    [0, 1_800_000_000],
    [1_800_000_000 - 86_400, 1_800_000_000],
    [100, 100.5],
  ] as const;
  await answering(
    (request, response) => {
      asked.push(new URL(request.url ?? '', 'http://x').searchParams);
      response.end(JSON.stringify(EMPTY));
    },
    async (port) => {
      for (const [from, to] of spans)
        await clientOf(`http://127.0.0.1:${port}`).range((step) => `up[${step}]`, from, to);
    },
  );
  spans.forEach(([from, to], i) => {
    const [start = 0, end, step = 0] = ['start', 'end', 'step'].map((name) =>
      parseFloat(asked[i]?.get(name) ?? ''),
    );
    assert.equal(end, to);
    const points = (to - start) / step;
    assert.ok(Math.abs(points - Math.round(points)) < 1e-6 && points < 11_000, String(points));
    // The first one looks back for a step.
    assert.ok(start - step <= from);
  });
});

test('range queries have no more steps than Prometheus takes', () => {
  for (const seconds of [1, 10_999, 86_400, 31_536_000]) {
    const step = stepOf(0, seconds);
    assert.ok(step >= 1 && seconds / step < 11_000);
  }
});
