import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import { request } from 'undici';
import { z } from 'zod';
import type { CaseSettings } from '../../src/cases/case.ts';
import { packageTarget } from '../../src/config/schema.ts';
import { readProcess } from '../../src/observe/process.ts';
import { installEnvironment, repairedEnvironment } from '../../src/targets/environment.ts';
import { PYTHON_SERVER } from '../../src/targets/paths.ts';
import { pythonBuild } from '../../src/targets/python.ts';
import { TargetError, type PreparedBuild, type RunningTarget } from '../../src/targets/target.ts';
import { eventually, livingIn } from '../fixtures/programs/paths.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'mcp-retention-python-'));
test.after(() => rmSync(directory, { recursive: true }));
const signal = new AbortController().signal;

const prepare = (version: string, more: object = {}): Promise<PreparedBuild> => {
  const name = `python:mcp@${version}`;
  return pythonBuild(name, packageTarget.parse({ package: name, ...more })).prepare(signal, () => undefined);
};

let starts = 0;
async function withServer(
  build: PreparedBuild,
  settings: CaseSettings,
  body: (running: RunningTarget) => Promise<void>,
): Promise<void> {
  const logFile = path.join(directory, `${++starts}.log`);
  const running = await build.start({ settings, probeDir: directory, logFile, signal });
  try {
    await body(running);
  } finally {
    await running.stop();
  }
  assert.equal(await running.alive(), false);
}

interface Answer {
  status: number;
  text: string;
  session: string | undefined;
}

async function send(
  url: string,
  method: 'POST' | 'GET' | 'DELETE',
  headers: Record<string, string> = {},
  message?: object,
): Promise<Answer> {
  const answer = await request(url, {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      ...(message === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(message === undefined ? {} : { body: JSON.stringify({ jsonrpc: '2.0', ...message }) }),
  });
  const session = answer.headers['mcp-session-id'];
  return { status: answer.statusCode, text: await answer.body.text(), session: session?.toString() };
}

const open = (url: string, headers: Record<string, string> = {}): Promise<Answer> =>
  send(url, 'POST', headers, {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });

/** Opens a session, calls both tools and deletes it. */
async function oneSession(url: string): Promise<void> {
  const { status, session } = await open(url);
  assert.equal(status, 200);
  assert.ok(session);
  const headers = { 'mcp-session-id': session };
  assert.equal((await send(url, 'POST', headers, { method: 'notifications/initialized' })).status, 202);
  const call = (id: number, name: string, args: object): Promise<Answer> =>
    send(url, 'POST', headers, { id, method: 'tools/call', params: { name, arguments: args } });
  assert.match((await call(2, 'echo', { text: 'hello there' })).text, /hello there/);
  assert.match((await call(3, 'sleep', { seconds: 0.01 })).text, /slept 0\.01 s/);
  assert.equal((await send(url, 'DELETE', headers)).status, 200);
}

test('a locked build is installed, serves, and refuses strangers and sessions over its cap', async () => {
  const build = await prepare('1.30.0');
  assert.deepEqual(build.record.abilities, {
    probe: true,
    pid: true,
    settings: ['idleTimeout', 'maxSessions'],
  });
  assert.equal(build.record.version, '1.30.0');
  assert.equal(build.record.packages.mcp, '1.30.0');
  assert.match(build.record.packages.python ?? '', /^3\.1\d\.\d+/);
  assert.ok(build.record.packages.uvicorn);
  await withServer(build, { idleTimeoutSeconds: 60, maxSessions: 2 }, async ({ url, pid, settings }) => {
    assert.deepEqual(settings, { idleTimeoutSeconds: 60, maxSessions: 2 });
    assert.ok((readProcess(pid ?? 0)?.rssBytes ?? 0) > 10_000_000);
    await oneSession(url);
    assert.equal((await open(url, { host: 'evil.example' })).status, 421);
    assert.equal((await open(url, { origin: 'http://evil.example' })).status, 403);
    assert.equal((await send(url.replace('/mcp', '/healthz'), 'GET')).text, 'ok\n');
    assert.deepEqual(
      [(await open(url)).status, (await open(url)).status, (await open(url)).status],
      [200, 200, 503],
    );
  });
});

test('a server ends by itself when its stdin closes, though an event stream is open', async () => {
  const { python } = await installEnvironment('1.30.0', {
    what: 'python:mcp@1.30.0',
    signal,
    log: () => undefined,
  });
  const server = execa(python, [PYTHON_SERVER], { reject: false, timeout: 20_000, killSignal: 'SIGKILL' });
  for await (const line of server) {
    const { url } = z.object({ url: z.string() }).parse(JSON.parse(line));
    const { session = '' } = await open(url);
    const stream = await request(url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': session },
    });
    assert.equal(stream.statusCode, 200);
    stream.body.on('error', () => undefined).resume();
    server.stdin.end();
  }
  assert.equal((await server).timedOut, false);
});

test('a build without a cap is started without one, and its default is known', async () => {
  const build = await prepare('1.29.1', { maxSessions: 5 });
  assert.deepEqual(build.record.abilities.settings, ['idleTimeout']);
  assert.deepEqual(build.record.config, { maxSessions: 5 });
  await withServer(build, {}, async ({ settings }) => {
    await Promise.resolve();
    assert.deepEqual(settings, { idleTimeoutSeconds: null, maxSessions: null });
  });
});

test('the configuration may switch a default off, and the case rules over it', async () => {
  const build = await prepare('1.30.0', { idleTimeout: 'none', maxSessions: 'none' });
  const seen: unknown[] = [];
  for (const settings of [{}, { idleTimeoutSeconds: 1.5 }]) {
    await withServer(build, settings, (running) => Promise.resolve(void seen.push(running.settings)));
  }
  assert.deepEqual(seen, [
    { idleTimeoutSeconds: null, maxSessions: null },
    { idleTimeoutSeconds: 1.5, maxSessions: null },
  ]);
});

test('workers serve one port, and none outlives the server', async () => {
  const build = await prepare('1.30.0', { workers: 2, jsonResponse: true });
  let group = 0;
  await withServer(build, {}, async ({ url, pid }) => {
    group = pid ?? 0;
    assert.equal(readProcess(group)?.children ?? 2, 2);
    assert.equal((await open(url)).text.startsWith('{'), true);
  });
  assert.ok(await eventually(() => livingIn(group).length === 0));
});

test('an old version comes with the dependencies of its day', async () => {
  const build = await prepare('1.12.0');
  assert.equal(build.record.packages.mcp, '1.12.0');
  assert.equal(build.record.packages.starlette, '0.47.1');
  assert.equal(build.record.config.dependenciesAsOf, '2025-07-18');
  assert.deepEqual(build.record.abilities.settings, []);
  await withServer(build, { idleTimeoutSeconds: 1, maxSessions: 1 }, async ({ url, settings }) => {
    assert.deepEqual(settings, { idleTimeoutSeconds: null, maxSessions: null });
    await oneSession(url);
  });
});

test('a version that was never published is one sentence', async () => {
  await assert.rejects(prepare('1.12.99'), (error) => {
    assert.ok(error instanceof TargetError);
    assert.match(error.message, /^python:mcp@1\.12\.99 does not exist[^\n]*\.$/);
    return true;
  });
});

test('the server says plainly which settings its build lacks', async () => {
  const build = await prepare('1.29.1');
  const { python } = await installEnvironment('1.29.1', {
    what: build.record.build,
    signal,
    log: () => undefined,
  });
  const server = execa(python, [PYTHON_SERVER, '--max-sessions', '5', '--idle-timeout', '7'], {
    reject: false,
  });
  const lines: string[] = [];
  for await (const line of server) {
    lines.push(line);
    server.stdin.end();
  }
  assert.equal(lines.length, 1);
  const said = z
    .object({ lacks: z.array(z.string()), idleTimeout: z.number() })
    .parse(JSON.parse(lines[0] ?? ''));
  assert.deepEqual(said, { lacks: ['maxSessions'], idleTimeout: 7 });
});

test('an environment that lost a part is built anew once it does not load; a sound one stays', async () => {
  const log: string[] = [];
  const options = { what: 'python:mcp@1.30.0', signal, log: (line: string): number => log.push(line) };
  const sound = await installEnvironment('1.30.0', options);
  assert.equal(await repairedEnvironment(sound, options), null);
  const bare = path.join(directory, 'bare');
  await execa(sound.python, ['-I', '-m', 'venv', '--without-pip', bare]);
  const broken = { ...sound, directory: bare, python: path.join(bare, 'bin', 'python') };
  assert.equal((await repairedEnvironment(broken, options))?.python, sound.python);
  assert.ok(log.some((line) => /does not load any more: it is built anew/.test(line)));
});
