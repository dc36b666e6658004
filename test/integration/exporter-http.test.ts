/** The pages, and what becomes of requests that are under way. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { ConfigError } from '../../src/config/load.ts';
import { serving } from '../support/exporter.ts';

test('/metrics, /healthz and a page that links them; anything else is 404, other methods 405', async (t) => {
  const { url, address } = await serving(t);
  assert.equal(url, `http://${address}/`);
  const page = await fetch(url);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  const html = await page.text();
  for (const link of ['href="metrics"', 'href="healthz"', 'a title &#38; &#60;more&#62;'])
    assert.ok(html.includes(link), link);
  assert.doesNotMatch(html, /https?:|<script|src=/);
  assert.equal(await (await fetch(`${url}healthz`)).text(), 'ok\n');
  const metrics = await fetch(`${url}metrics?x=1`, { headers: { accept: 'text/plain' } });
  assert.equal(await metrics.text(), 'text/plain 8000\n');
  const head = await fetch(`${url}metrics`, { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text()], [200, '']);
  for (const path of ['metric', 'metrics/', 'healthz/x', '%2e%2e/etc/passwd', 'favicon.ico'])
    assert.equal((await fetch(url + path)).status, 404, path);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const refused = await fetch(`${url}metrics`, { method });
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD'], method);
  }
});

test('the deadline is below what Prometheus says of its own', async (t) => {
  const { url } = await serving(t);
  const deadline = async (header: string): Promise<number> => {
    const headers = { 'x-prometheus-scrape-timeout-seconds': header, accept: 'a/b' };
    return Number((await (await fetch(`${url}metrics`, { headers })).text()).split(' ')[1]);
  };
  assert.equal(await deadline('5'), 4000);
  assert.equal(await deadline('0.5'), 400);
  assert.equal(await deadline('1e9'), 96_000);
  for (const nonsense of ['0', '-3', 'soon', 'NaN']) assert.equal(await deadline(nonsense), 8000, nonsense);
});

test('an error while rendering is HTTP 500 without its text, and the server lives on', async (t) => {
  const errors: unknown[] = [];
  const { url } = await serving(t, {
    render: () => Promise.reject(new Error('secret')),
    onError: (error) => errors.push(error),
  });
  const failed = await fetch(`${url}metrics`);
  assert.deepEqual([failed.status, await failed.text()], [500, 'The scrape failed.\n']);
  assert.equal(errors.length, 1);
  assert.equal((await fetch(`${url}healthz`)).status, 200);
});

test('closing lets an answer under way finish, and cuts one that does not', async (t) => {
  const controller = new AbortController();
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let calls = 0;
  const { url, closed } = await serving(t, {
    signal: controller.signal,
    render: async () => {
      calls += 1;
      if (calls === 2) return new Promise(() => undefined);
      await asked;
      return { contentType: 'text/plain', body: 'in time\n' };
    },
  });
  const finished = fetch(`${url}metrics`).then((response) => response.text());
  const cut = fetch(`${url}metrics`).then(
    () => 'answered',
    () => 'cut',
  );
  while (calls < 2) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  answer();
  assert.equal(await finished, 'in time\n');
  assert.equal(await cut, 'cut');
  await closed;
  await assert.rejects(fetch(url));
});

test('an address that cannot be used is one sentence, and nothing is left listening', async (t) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  t.after(() => taken.close());
  const { port } = taken.address() as { port: number };
  const refused: [string, RegExp][] = [
    [`127.0.0.1:${port}`, /cannot listen on 127\.0\.0\.1:\d+: another program listens there/],
    ['nowhere.invalid:0', /cannot listen on nowhere\.invalid:0: the name cannot be resolved/],
    ['192.0.2.1:0', /cannot listen on 192\.0\.2\.1:0: this machine has no such address/],
    ['9464', /9464 is no address: write host:port/],
    [':9464', /is no address/],
    ['http://127.0.0.1:9464', /is no address/],
    ['127.0.0.1:70000', /is no address/],
    ['::1:80', /is no address/],
  ];
  for (const [listen, sentence] of refused)
    await assert.rejects(serving(t, { listen }), (error: unknown) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.match(error.message, sentence);
      return true;
    });
});
