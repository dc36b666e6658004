/** What others may put into a probe directory: it blocks nobody, and only sockets are connected. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { test } from 'node:test';
import { pino } from 'pino';
import { ProbeReader } from '../../src/observe/sessions.ts';
import type { Snapshot } from '../../src/observe/snapshot.ts';
import { start, inFolder } from '../support/cli.ts';
import { probeDir, scraping, spawnSuspect, stubProbe, targetOf } from '../support/exporter.ts';
import { byWorker, successes } from '../support/exposition.ts';

const OWN = String(process.pid);
const onLinux = { skip: process.platform !== 'linux' };
const PATIENT = { timeoutMs: 10_000 };
const GiB = 2 ** 30;

/** @param make puts something at the path, which is named as this process's probe */
async function reasonFor(
  t: Parameters<typeof probeDir>[0],
  ending: 'sock' | 'addr',
  make: (path: string) => void,
): Promise<string | undefined> {
  const dir = await probeDir(t);
  make(join(dir, `${OWN}.${ending}`));
  const reader = new ProbeReader();
  t.after(() => reader.close());
  // More at once than Node.js has threads for files.
  const readings = await Promise.all(Array.from({ length: 6 }, () => reader.read(dir, PATIENT)));
  const reasons = readings.flatMap(({ errors }) => errors.map(({ reason }) => reason));
  assert.equal(reasons.length, 6);
  return reasons[0];
}

const fifo = (path: string): void => void execFileSync('mkfifo', [path]);

test('an address is read from a regular file alone', async (t) => {
  const { port } = await new Promise<AddressInfo>((resolve) => {
    const server = createServer((_, res) => res.end('{}')).listen(0, '127.0.0.1', () =>
      resolve(server.address() as AddressInfo),
    );
    t.after(() => server.close());
  });
  const address = `127.0.0.1:${port}\n`;
  assert.match((await reasonFor(t, 'addr', (path) => writeFileSync(path, address))) ?? '', /the contract/);
  assert.match((await reasonFor(t, 'addr', fifo)) ?? '', /address file is no regular file\.$/);
  assert.match((await reasonFor(t, 'addr', mkdirSync)) ?? '', /address file is no regular file\.$/);
  const linked = (path: string): void => {
    writeFileSync(`${path}.aside`, address);
    symlinkSync(`${path}.aside`, path);
  };
  assert.match((await reasonFor(t, 'addr', linked)) ?? '', /address file cannot be read\.$/);
});

test('what is not quite an address is not looked up as a name', async (t) => {
  for (const address of [
    '127.999.1.1:80',
    '127.0.0.1.:80',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    'localhost.:80',
  ])
    assert.match(
      (await reasonFor(t, 'addr', (path) => writeFileSync(path, address))) ?? '',
      /does not name a loopback address/,
      address,
    );
});

test('of a file that is huge, no more is read than an address may be long', async (t) => {
  const before = process.memoryUsage().rss;
  const huge = (path: string): void => {
    writeFileSync(path, '');
    truncateSync(path, GiB);
    assert.equal(statSync(path).size, GiB);
  };
  assert.match((await reasonFor(t, 'addr', huge)) ?? '', /does not name a loopback address/);
  assert.ok(process.memoryUsage().rss - before < GiB / 2);
});

test('what is called a socket and is none is not connected', async (t) => {
  for (const make of [fifo, mkdirSync, (path: string) => writeFileSync(path, 'x')])
    assert.match((await reasonFor(t, 'sock', make)) ?? '', /\.sock file is no socket\.$/);
});

test('pipes in place of addresses cost an exporter that target and nothing else', onLinux, async (t) =>
  inFolder(async (folder) => {
    for (const name of ['piped', 'well']) mkdirSync(join(folder, name), { mode: 0o700 });
    const { pid } = await spawnSuspect(t, join(folder, 'well'));
    for (const living of [OWN, String(process.ppid), String(pid), '1', '2'])
      fifo(join(folder, 'piped', `${living}.addr`));
    const args = ['exporter', '--listen', '127.0.0.1:0', '--probe-dir', 'piped', '--probe-dir', 'well'];
    const { child, finished } = start(args, { cwd: folder });
    t.after(() => child.kill('SIGKILL'));
    assert.ok(child.stdout);
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const url = line.replace('serving ', '');
    for (let i = 0; i < 3; i++) {
      const text = await (await fetch(url)).text();
      assert.deepEqual([...byWorker(text, 'mcp_sessions_registered').keys()], [String(pid)]);
      const { 'well/sessions': sessions, 'well/memory': memory, 'piped/sessions': piped } = successes(text);
      assert.deepEqual([sessions, memory, piped], [1, 1, 0]);
    }
    child.kill('SIGTERM');
    const { code, stderr } = await finished;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /address file is no regular file/);
  }),
);

test('an exporter tells of a snapshot that contradicts itself, and shows none of it', async (t) => {
  const dir = await probeDir(t);
  const golden = JSON.parse(
    await readFile(new URL('../golden/probe-snapshot.v1.json', import.meta.url), 'utf8'),
  ) as Snapshot;
  const managers = [...golden.managers, ...golden.managers];
  await stubProbe(t, dir, process.pid, (_, res) =>
    res.end(JSON.stringify({ ...golden, pid: process.pid, managers })),
  );
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const text = await scraping(t, [targetOf(dir, { name: 'shop' })], log).page();
  assert.equal(successes(text)['shop/sessions'], 0);
  assert.equal(byWorker(text, 'mcp_session_registrations_total').size, 0);
  const said = JSON.parse(lines.find((line) => line.includes('"sessions"')) ?? '{}') as { msg?: string };
  assert.match(
    said.msg ?? '',
    /^The probe's answer does not follow the contract at managers\.1\.manager: an id that another manager has\.$/,
  );
});
