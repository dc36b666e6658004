/** What a fixed snapshot looks like on /metrics, and which format a scraper gets. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { Counter, Registry } from 'prom-client';
import { negotiate, OPENMETRICS_TEXT, PROMETHEUS_TEXT, renderRegistry } from '../../exporters/exposition.ts';
import { Scraper } from '../../exporters/scraper.ts';
import { silentLogger } from '../../src/log.ts';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import type { ProcessMessage, Snapshot } from '../../src/observe/snapshot.ts';
import { PATIENT_MS, probeDir, spawnSuspect, stubProbe, targetOf } from '../support/exporter.ts';
import { seriesIn } from '../support/exposition.ts';
import { prometheusMissing, promtool } from '../support/prometheus.ts';

const golden = (name: string): string => readFileSync(new URL(`../golden/${name}`, import.meta.url), 'utf8');

/** The golden snapshot and process message, behind a probe of the worker that they name. */
async function goldenScraper(
  t: TestContext,
  labels: Readonly<Record<string, string>>,
  change: (snapshot: Snapshot) => void = () => undefined,
): Promise<Scraper> {
  const dir = await probeDir(t);
  const snapshot = JSON.parse(golden('probe-snapshot.v1.json')) as Snapshot;
  change(snapshot);
  const message = JSON.parse(golden('probe-process.v1.json')) as ProcessMessage;
  const limited = { ...message, files: { ...message.files, '/sys/fs/cgroup/memory.max': '268435456\n' } };
  await stubProbe(t, dir, snapshot.pid, (req, res) =>
    res.end(JSON.stringify(req.url === '/v1/snapshot' ? snapshot : limited)),
  );
  const scraper = new Scraper([targetOf(dir, { name: 'shop', labels })], silentLogger());
  t.after(() => scraper.close());
  return scraper;
}

const withoutTimes = (page: string): string =>
  page.replace(/(duration_seconds\{[^}]*collector.*\}) \S+/g, '$1 0');

test('a fixed snapshot is the golden page', async (t) => {
  const scraper = await goldenScraper(t, { team: 'search "x"' });
  const { contentType, body } = await scraper.scrape('', PATIENT_MS);
  assert.equal(contentType, PROMETHEUS_TEXT);
  assert.equal(withoutTimes(body), golden('metrics.txt'));
});

test('what a probe cannot tell is left out, and nothing else', async (t) => {
  const names = async (scraper: Scraper): Promise<Set<string>> => {
    const { body } = await scraper.scrape('', PATIENT_MS);
    return new Set([...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
  };
  const all = await names(await goldenScraper(t, {}));
  const unknown = ['remnants', 'idle', 'endedSessionDurations'] as const;
  const told = await names(
    await goldenScraper(t, {}, ({ managers }) => {
      for (const manager of managers) manager.unknown = [...unknown];
    }),
  );
  assert.deepEqual([...all].filter((name) => !told.has(name)).sort(), [
    'mcp_server_session_duration_seconds',
    'mcp_session_oldest_idle_seconds',
    'mcp_session_remnants',
  ]);
});

test('promtool finds nothing to say about it', { skip: prometheusMissing }, async (t) => {
  const scraper = await goldenScraper(t, {});
  const { body } = await scraper.scrape('', PATIENT_MS);
  assert.ok(body.length > 1000);
  assert.deepEqual(await promtool(['check', 'metrics'], body), { code: 0, output: '' });
});

test('in OpenMetrics the same samples stand, and the page has its end', async (t) => {
  const scraper = await goldenScraper(t, {});
  const plain = await scraper.scrape('text/plain', PATIENT_MS);
  const open = await scraper.scrape('application/openmetrics-text; version=1.0.0', PATIENT_MS);
  assert.equal(open.contentType, OPENMETRICS_TEXT);
  assert.match(open.body, /\n# EOF\n$/);
  assert.match(open.body, /^# TYPE mcp_session_removals counter$/m);
  assert.match(open.body, /^mcp_session_removals_total\{.*\} 7$/m);
  const samples = (page: string) => seriesIn(withoutTimes(page));
  assert.deepEqual(samples(open.body), samples(plain.body));
  const again = await scraper.scrape('text/plain', PATIENT_MS);
  assert.equal(withoutTimes(again.body), withoutTimes(plain.body));
});

test('every metric of the catalogue that is not the load side’s has a collector', async (t) => {
  const scraper = await goldenScraper(t, {});
  const dir = await probeDir(t);
  await spawnSuspect(t, dir, ['--max-sessions', '5']);
  const other = new Scraper([targetOf(dir)], silentLogger());
  t.after(() => other.close());
  const pages = [await scraper.scrape('', PATIENT_MS), await other.scrape('', PATIENT_MS)].map(
    ({ body }) => body,
  );
  for (const { name, type } of CATALOGUE.filter((metric) => !metric.name.startsWith('mcp_client_')))
    assert.ok(
      pages.some(
        (page) => page.includes(`\n# TYPE ${name} ${type}\n`) || page.startsWith(`# TYPE ${name} ${type}`),
      ),
      name,
    );
});

test('a registry that lives on is rendered in either format, in any order', async () => {
  const registry = new Registry();
  new Counter({ name: 'eggs_total', help: 'Eggs.', registers: [registry] }).inc(3);
  const plain = await renderRegistry(registry, '');
  assert.match(plain.body, /^eggs_total 3$/m);
  const open = await renderRegistry(registry, 'application/openmetrics-text');
  assert.match(open.body, /^# TYPE eggs counter\neggs_total 3\n# EOF\n$/m);
  assert.deepEqual(await renderRegistry(registry, ''), plain);
});

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1';

test('the Accept header decides', () => {
  for (const accept of [
    PROMETHEUS_2,
    PROMETHEUS_3,
    'application/openmetrics-text',
    'Application/OpenMetrics-Text; Version=1.0.0',
  ])
    assert.equal(negotiate(accept), OPENMETRICS_TEXT, accept);
  for (const accept of [
    '',
    '*/*',
    'text/html,*/*;q=0.8',
    'text/plain;version=0.0.4',
    'application/openmetrics-text;version=9.0.0',
    'application/openmetrics-text;q=0',
    'application/openmetrics-text;q=0.2,text/plain;q=0.9',
    'application/openmetrics-text;q=nonsense',
    ';;,,=',
  ])
    assert.equal(negotiate(accept), PROMETHEUS_TEXT, accept);
});
