/** Scrapes of servers that live, hang, lie half-written, vanish; and of what they leave behind. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import type { ProcessMessage, Snapshot } from '../../src/observe/snapshot.ts';
import { eventually, Speaker } from '../fixtures/servers/speaker.ts';
import { processMessage } from '../fixtures/servers/suspect/probe.ts';
import { killed, probeDir, scraping, spawnSuspect, stubProbe, targetOf } from '../support/exporter.ts';
import { byWorker, seriesIn, successes } from '../support/exposition.ts';

const onLinux = { skip: process.platform !== 'linux' };
const MEMORY = 'mcp_server_resident_memory_bytes';
const REGISTERED = 'mcp_sessions_registered';
/** No process of a machine has such a number: as if it ran in another container. */
const ELSEWHERE = 2_000_000_001;

const snapshot = async (pid: number): Promise<Snapshot> => ({
  ...(JSON.parse(
    await readFile(new URL('../golden/probe-snapshot.v1.json', import.meta.url), 'utf8'),
  ) as Snapshot),
  pid,
});
const message = async (pid: number): Promise<ProcessMessage> => ({
  ...(JSON.parse(
    await readFile(new URL('../golden/probe-process.v1.json', import.meta.url), 'utf8'),
  ) as ProcessMessage),
  pid,
});

test('two workers have series of their own, labels of the operator come along, no session id does', async (t) => {
  const dir = await probeDir(t);
  const [first, second] = await Promise.all([spawnSuspect(t, dir), spawnSuspect(t, dir)]);
  const speaker = new Speaker(first.url);
  t.after(() => speaker.close());
  const ids = [await speaker.open(), await speaker.open()];
  const { page } = scraping(t, [
    targetOf(dir, { name: 'shop', build: 'shop 4.2', labels: { team: 'search' } }),
  ]);
  const text = await page();
  assert.deepEqual(
    byWorker(text, REGISTERED),
    new Map(
      [first, second]
        .sort((a, b) => a.pid - b.pid)
        .map(({ pid }) => [String(pid), pid === first.pid ? 2 : 0]),
    ),
  );
  for (const series of seriesIn(text)) assert.equal(series.labels.team, 'search');
  for (const series of seriesIn(text).filter(({ labels }) => labels.worker !== undefined))
    assert.equal(series.labels.build, 'shop 4.2');
  for (const id of ids) assert.ok(!text.includes(id));
  assert.deepEqual(successes(text), { 'shop/sessions': 1, 'shop/memory': 1 });
});

test('a worker that ends takes its series along; one that starts later brings its own', async (t) => {
  const dir = await probeDir(t);
  const { page } = scraping(t, [targetOf(dir, { name: 'shop' })]);
  assert.deepEqual(successes(await page()), { 'shop/sessions': 0, 'shop/memory': 0 });
  const first = await spawnSuspect(t, dir);
  const second = await spawnSuspect(t, dir);
  assert.equal(byWorker(await page(), REGISTERED).size, 2);
  await killed(first);
  const text = await page();
  assert.deepEqual([...byWorker(text, REGISTERED).keys()], [String(second.pid)]);
  assert.ok(!text.includes(`worker="${first.pid}"`));
  assert.deepEqual(successes(text), { 'shop/sessions': 1, 'shop/memory': 1 });
});

test('when the probe dies, the memory stays, under the same labels', onLinux, async (t) => {
  const dir = await probeDir(t);
  const { pid } = await spawnSuspect(t, dir, ['--fault', 'probe-dies']);
  const { page } = scraping(t, [targetOf(dir, { name: 'shop' })]);
  assert.deepEqual(successes(await page()), { 'shop/sessions': 1, 'shop/memory': 1 });
  await eventually('the probe dies', async () => successes(await page())['shop/sessions'] === 0);
  const text = await page();
  assert.ok((byWorker(text, MEMORY).get(String(pid)) ?? 0) > 1e6);
  assert.equal(byWorker(text, REGISTERED).size, 0);
  assert.deepEqual(successes(text), { 'shop/sessions': 0, 'shop/memory': 1 });
  // An exporter that starts only now finds the process as well: by the owner and the age of the socket's file.
  const late = await scraping(t, [targetOf(dir, { name: 'shop' })]).page();
  assert.ok((byWorker(late, MEMORY).get(String(pid)) ?? 0) > 1e6);
  assert.deepEqual(successes(late), { 'shop/sessions': 0, 'shop/memory': 1 });
});

test('a hung probe costs its deadline, no other target anything, and is told of once', onLinux, async (t) => {
  const [hung, well] = [await probeDir(t), await probeDir(t)];
  const { pid } = await spawnSuspect(t, hung, ['--fault', 'probe-hangs']);
  await spawnSuspect(t, well);
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const targets = [targetOf(hung, { name: 'hung' }), targetOf(well, { name: 'well' })];
  const { page } = scraping(t, targets, log);
  const began = performance.now();
  const text = await page(4_000);
  assert.ok(performance.now() - began < 10_000, 'the deadline holds');
  assert.deepEqual(successes(text), {
    'hung/sessions': 0,
    'hung/memory': 1,
    'well/sessions': 1,
    'well/memory': 1,
  });
  assert.ok((byWorker(text, MEMORY).get(String(pid)) ?? 0) > 1e6);
  await page(2_000);
  await page(3_000);
  const said = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.equal(said.filter((line) => line.target === 'hung' && line.collector === 'sessions').length, 1);
  assert.deepEqual([said[0]?.target, said[0]?.collector, said[0]?.worker], ['hung', 'sessions', String(pid)]);
  assert.match(String(said[0]?.msg), /gave no answer within/);
});

test('a half-written answer fails that worker and no other', async (t) => {
  const dir = await probeDir(t);
  await spawnSuspect(t, dir);
  await stubProbe(t, dir, ELSEWHERE, (_, res) => {
    res.writeHead(200, { 'content-length': '1000' });
    res.write('{"schema":', () => res.destroy());
  });
  const text = await scraping(t, [targetOf(dir, { name: 'shop' })]).page();
  assert.equal(byWorker(text, REGISTERED).size, 1);
  assert.equal(byWorker(text, MEMORY).size, 1);
  assert.deepEqual(successes(text), { 'shop/sessions': 0, 'shop/memory': 0 });
});

test('a probe that hangs in the middle of its answer, and one that never accepts', async (t) => {
  const dir = await probeDir(t);
  await stubProbe(t, dir, ELSEWHERE, (_, res) => {
    res.writeHead(200, { 'content-length': '1000' });
    res.write('{"schema":');
  });
  await stubProbe(t, dir, ELSEWHERE + 1, createServer());
  const text = await scraping(t, [targetOf(dir, { name: 'shop' })]).page(500);
  assert.deepEqual(successes(text), { 'shop/sessions': 0, 'shop/memory': 0 });
});

test('of a worker in another container, the memory is what its kernel says, by way of the probe', async (t) => {
  const dir = await probeDir(t);
  const [counts, kernel] = [await snapshot(ELSEWHERE), await message(ELSEWHERE)];
  const files = { ...kernel.files, '/sys/fs/cgroup/memory.max': '104857600\n' };
  await stubProbe(t, dir, ELSEWHERE, (req, res) =>
    res.end(JSON.stringify(req.url === '/v1/process' ? { ...kernel, files } : counts)),
  );
  const text = await scraping(t, [targetOf(dir, { name: 'shop' })]).page();
  const worker = String(ELSEWHERE);
  assert.equal(byWorker(text, MEMORY).get(worker), 56000 * 1024);
  assert.equal(byWorker(text, 'mcp_server_open_fds').get(worker), 12);
  assert.equal(byWorker(text, 'mcp_server_memory_limit_bytes').get(worker), 104857600);
  assert.equal(byWorker(text, 'mcp_server_child_processes').size, 0);
});

test(
  'a process of ours that has the number of a worker elsewhere is not taken for it',
  onLinux,
  async (t) => {
    const dir = await probeDir(t);
    const [counts, kernel] = [await snapshot(process.ppid), await message(process.ppid)];
    await stubProbe(t, dir, process.ppid, (req, res) =>
      res.end(JSON.stringify(req.url === '/v1/process' ? kernel : counts)),
    );
    const { page } = scraping(t, [targetOf(dir, { name: 'shop' })]);
    for (let i = 0; i < 2; i++)
      assert.equal(byWorker(await page(), MEMORY).get(String(process.ppid)), 56000 * 1024);
  },
);

test('when the memory cannot be read, the sessions stay', async (t) => {
  const dir = await probeDir(t);
  const counts = await snapshot(ELSEWHERE);
  const unreadable = { ...(await message(ELSEWHERE)), files: { '/proc/self/status': null } };
  await stubProbe(t, dir, ELSEWHERE, (req, res) =>
    res.end(JSON.stringify(req.url === '/v1/process' ? unreadable : counts)),
  );
  const text = await scraping(t, [targetOf(dir, { name: 'shop' })]).page();
  assert.equal(byWorker(text, REGISTERED).get(String(ELSEWHERE)), 5);
  assert.equal(byWorker(text, MEMORY).size, 0);
  assert.deepEqual(successes(text), { 'shop/sessions': 1, 'shop/memory': 0 });
});

test('counts that hang do not hold up the memory, and the other way round', async (t) => {
  for (const silent of ['/v1/snapshot', '/v1/process']) {
    const dir = await probeDir(t);
    const [counts, kernel] = [await snapshot(ELSEWHERE), await message(ELSEWHERE)];
    await stubProbe(t, dir, ELSEWHERE, (req, res) => {
      if (req.url !== silent) res.end(JSON.stringify(req.url === '/v1/process' ? kernel : counts));
    });
    const text = await scraping(t, [targetOf(dir, { name: 'shop' })]).page(4_000);
    assert.deepEqual(successes(text), {
      'shop/sessions': silent === '/v1/snapshot' ? 0 : 1,
      'shop/memory': silent === '/v1/process' ? 0 : 1,
    });
  }
});

test('a single probe by its address, with and without the process id', async (t) => {
  const dir = await probeDir(t);
  const { pid } = await spawnSuspect(t, dir, [], { MCP_RETENTION_PROBE_LISTEN: '127.0.0.1:0' });
  const address = (await readFile(join(dir, `${pid}.addr`), 'utf8')).trim();
  const at = (name: string, given: number | null, where = address) =>
    targetOf('-', { name, place: { kind: 'address', address: where, pid: given } });
  const text = await scraping(t, [at('a', pid), at('b', null), at('c', null, '127.0.0.1:1')]).page();
  assert.deepEqual(successes(text), {
    'a/sessions': 1,
    'a/memory': 1,
    'b/sessions': 1,
    'b/memory': 1,
    'c/sessions': 0,
    'c/memory': 0,
  });
  for (const { labels } of seriesIn(text).filter(({ name }) => name === MEMORY))
    assert.equal(labels.worker, String(pid));
});

test('scrapes at one time do not disturb each other, whatever their deadlines', async (t) => {
  const dir = await probeDir(t);
  const [counts, kernel] = [await snapshot(ELSEWHERE), await processMessage()];
  const waiting: (() => void)[] = [];
  await stubProbe(t, dir, ELSEWHERE, (req, res) => {
    const answer = (): void =>
      void res.end(JSON.stringify(req.url === '/v1/process' ? { ...kernel, pid: ELSEWHERE } : counts));
    waiting.push(answer);
  });
  const { page } = scraping(t, [targetOf(dir, { name: 'shop' })]);
  const patient = page();
  const hasty = page(300);
  assert.deepEqual(successes(await hasty), { 'shop/sessions': 0, 'shop/memory': 0 });
  assert.ok(waiting.length >= 4, 'each scrape asked for itself, and each collector');
  for (const answer of waiting) answer();
  assert.deepEqual(successes(await patient), { 'shop/sessions': 1, 'shop/memory': 1 });
});
