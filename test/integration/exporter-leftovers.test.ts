/** What ended workers leave behind in a probe directory, and directories that are not there yet. */
import assert from 'node:assert/strict';
import { symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { probeDir, scraping, spawnSuspect, staleSockets, targetOf } from '../support/exporter.ts';
import { byWorker, successes } from '../support/exposition.ts';

const onLinux = { skip: process.platform !== 'linux' };
const MEMORY = 'mcp_server_resident_memory_bytes';
const REGISTERED = 'mcp_sessions_registered';
/** No process of a machine has such a number: as if it ran in another container. */
const ELSEWHERE = 2_000_000_001;

test('a thousand files left behind hide nobody and cost the scrapes that follow nothing to speak of', async (t) => {
  const dir = await probeDir(t);
  await spawnSuspect(t, dir);
  // Sockets for the most part; some files that are none, and some links that lead nowhere.
  await staleSockets(dir, ELSEWHERE, 800);
  for (let i = 800; i < 1000; i++) {
    const path = join(dir, `${ELSEWHERE + i}.sock`);
    if (i % 2 === 0) await symlink(join(dir, 'nowhere'), path);
    else await writeFile(path, '');
  }
  const { page } = scraping(t, [targetOf(dir, { name: 'shop' })]);
  for (let i = 0; i < 3; i++) {
    const text = await page(5_000);
    assert.equal(byWorker(text, REGISTERED).size, 1);
    assert.deepEqual(successes(text), { 'shop/sessions': 1, 'shop/memory': 1 });
  }
});

test('a file that is older than the process with its number is a leftover', onLinux, async (t) => {
  const dir = await probeDir(t);
  const { pid } = await spawnSuspect(t, dir);
  const other = await spawnSuspect(t, await probeDir(t));
  const path = join(dir, `${other.pid}.sock`);
  const { page } = scraping(t, [targetOf(dir, { name: 'shop' })]);
  await writeFile(path, '');
  assert.deepEqual(successes(await page()), { 'shop/sessions': 0, 'shop/memory': 1 });
  await utimes(path, 1_000_000_000, 1_000_000_000);
  const text = await page();
  assert.deepEqual(successes(text), { 'shop/sessions': 1, 'shop/memory': 1 });
  assert.deepEqual([...byWorker(text, MEMORY).keys()], [String(pid)]);
});

test('a directory that is not there fails, and is read once it is', async (t) => {
  const dir = await probeDir(t);
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const { page } = scraping(t, [targetOf(join(dir, 'later'), { name: 'shop' })], log);
  assert.deepEqual(successes(await page()), { 'shop/sessions': 0, 'shop/memory': 0 });
  assert.match(lines[0] ?? '', /The probe directory cannot be read \(ENOENT\)/);
});
