import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveLive, type Live } from '../../src/cli/live.ts';
import type { LiveData } from '../../src/report/html/data.ts';
import { inFolder, start, type Running } from '../support/cli.ts';
import { suspectConfig } from '../support/measure.ts';

interface Answer {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

const ask = (url: string, options: { method?: string; host?: string } = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = options.host === undefined ? {} : { host: options.host };
    const asking = request(url, { method: options.method ?? 'GET', headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    asking.on('error', reject).end();
  });

describe('the live server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcpr-live-'));
  const recording = join(folder, 'recording.ndjson');
  let live: Live;

  before(async () => {
    copyFileSync(new URL('../golden/recording.v1.ndjson', import.meta.url), recording);
    live = await serveLive(true, recording, new AbortController().signal);
  });
  after(async () => {
    await live.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('serves the page and its data to this machine alone', async () => {
    assert.match(live.url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    const page = await ask(live.url);
    assert.equal(page.status, 200);
    assert.match(page.body, /<html lang="en" data-live>/);
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'.*connect-src 'self'/);
    const data = await ask(`${live.url}data.json`);
    assert.equal((JSON.parse(data.body) as LiveData).running, true);
    for (const { headers } of [page, data]) {
      assert.equal(headers['access-control-allow-origin'], undefined);
      assert.equal(headers['cache-control'], 'no-store');
    }
    assert.equal((await ask(`${live.url}recording.ndjson`)).status, 404);
    assert.equal((await ask(live.url, { method: 'POST' })).status, 405);
  });

  test('refuses a name that only leads to this machine', async () => {
    const { port } = new URL(live.url);
    assert.equal((await ask(live.url, { host: `localhost:${port}` })).status, 200);
    for (const host of [`evil.example:${port}`, `127.0.0.1.evil.example:${port}`, '127.0.0.1'])
      assert.equal((await ask(`${live.url}data.json`, { host })).status, 421, host);
  });

  test('listens on loopback alone', async () => {
    const signal = new AbortController().signal;
    for (const address of ['0.0.0.0:0', 'example.com:80', '192.0.2.1:0', '[::]:0'])
      await assert.rejects(serveLive(address, recording, signal), /not of this machine alone/);
    await assert.rejects(
      serveLive('python:mcp@1.30.0', recording, signal),
      /write --live alone after the target/,
    );
    await assert.rejects(
      serveLive(new URL(live.url).host, recording, signal),
      /another program listens there/,
    );
  });

  test('answers why there is nothing to show', async () => {
    const broken = join(folder, 'broken.ndjson');
    writeFileSync(broken, '{"type":"header","schema":"mcp-retention/recording/v99"}\n');
    const other = await serveLive('127.0.0.1:0', broken, new AbortController().signal);
    try {
      const { status, body } = await ask(other.url);
      assert.equal(status, 503);
      assert.match(body, /another version/);
    } finally {
      await other.close();
    }
  });
});

const CHECK = [
  'check',
  'suspect',
  '--config',
  'suspect.json',
  '--case',
  'keepalive',
  '--out',
  'run',
  '--live',
];

interface Followed extends Running {
  /** The address that was printed. */
  readonly url: string;
}

async function follow(folder: string, fault: string | null): Promise<Followed> {
  writeFileSync(join(folder, 'suspect.json'), suspectConfig(fault));
  const running = start(CHECK, { cwd: folder });
  let stderr = '';
  running.child.stderr?.on('data', (text: string) => (stderr += text));
  await running.saw('/\n');
  return { ...running, url: /live +(http:\S+)/.exec(stderr)?.[1] ?? '' };
}

test('--live serves while the run goes on, and is gone with it', () =>
  inFolder(async (folder) => {
    const { url, finished } = await follow(folder, 'never-expires');
    assert.equal((await ask(url)).status, 200);
    const { code, stderr, stdout } = await finished;
    assert.equal(code, 1, stderr);
    assert.equal(stderr.split('http://127.0.0.1').length, 2, 'the address is printed once');
    assert.match(stdout, /report\.html/);
    await assert.rejects(ask(url), /ECONNREFUSED/);
  }));

/** The process that judges for the page. */
async function judgeOf(pid: number): Promise<number> {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  const judge = children.find((child) =>
    readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('live-worker'),
  );
  if (judge !== undefined) return judge;
  await sleep(50);
  return judgeOf(pid);
}

const isGone = (pid: number): boolean => {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
};

for (const signal of ['SIGINT', 'SIGKILL'] as const)
  test(`--live leaves nothing behind after ${signal}`, { skip: process.platform !== 'linux' }, () =>
    inFolder(async (folder) => {
      const { url, child, finished } = await follow(folder, null);
      assert.equal((await ask(url)).status, 200);
      const judge = await judgeOf(child.pid ?? 0);
      child.kill(signal);
      const { code } = await finished;
      assert.equal(code, signal === 'SIGINT' ? 3 : null);
      for (let tries = 0; !isGone(judge) && tries < 600; tries++) await sleep(50);
      assert.ok(isGone(judge));
      await assert.rejects(ask(url), /ECONNREFUSED/);
    }),
  );
