import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { z } from 'zod';
import type { CaseSettings } from '../../src/cases/case.ts';
import { commandTarget, type CommandTarget } from '../../src/config/schema.ts';
import { commandBuild } from '../../src/targets/command.ts';
import { PYTHON_PROBE } from '../../src/targets/paths.ts';
import { TargetError, UsageError, type RunningTarget } from '../../src/targets/target.ts';
import { urlBuild } from '../../src/targets/url.ts';
import { fixture, livingIn } from '../fixtures/programs/paths.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'mcp-retention-command-'));
test.after(() => rmSync(directory, { recursive: true }));
const signal = new AbortController().signal;
const linuxOnly = process.platform === 'linux' ? {} : { skip: 'looks into /proc' };

const answerSchema = z.object({
  pid: z.number(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
});

const listener = (more: z.input<typeof commandTarget> | object = {}): CommandTarget =>
  commandTarget.parse({
    command: process.execPath,
    args: [fixture('listener.mjs'), '{port}'],
    url: 'http://127.0.0.1:{port}/mcp',
    ...more,
  });

/** Starts a command, hands it with what its server tells of itself to the body, and stops it. */
async function withCommand(
  spec: CommandTarget,
  settings: CaseSettings,
  body: (running: RunningTarget, answer: z.infer<typeof answerSchema>) => void | Promise<void>,
): Promise<void> {
  const build = await commandBuild('mine', spec, { allowHosts: [] }).prepare(signal, () => undefined);
  const options = { settings, probeDir: directory, logFile: path.join(directory, 'log'), signal };
  const running = await build.start(options);
  try {
    await body(running, answerSchema.parse(await (await fetch(running.url)).json()));
  } finally {
    await running.stop();
  }
  assert.equal(await running.alive(), false);
  assert.equal(running.death(), null);
}

test('a command is started on a free port and its own process is known', async () => {
  await withCommand(listener(), {}, async (running, answer) => {
    assert.equal(running.pid, answer.pid);
    assert.equal(answer.args[0], new URL(running.url).port);
    assert.equal(await running.alive(), true);
    assert.ok(running.startMs > 0);
    assert.deepEqual(running.settings, {});
  });
});

test('behind a launcher the server is found, and both end', linuxOnly, async () => {
  let group = 0;
  await withCommand(listener({ env: { LAUNCH: '1' } }), {}, (running, answer) => {
    assert.equal(running.pid, answer.pid);
    group = livingIn(answer.pid).length === 0 ? 1 : 0;
    assert.equal(group, 1, 'the server leads no group: its launcher does');
  });
});

test('settings travel by their routes; the case rules over what is declared', async () => {
  const spec = listener({
    settings: { idleTimeout: { env: 'IDLE' }, maxSessions: { args: ['--cap', '{value}'] } },
    declared: { idleTimeout: 'none', maxSessions: 100 },
  });
  await withCommand(spec, { idleTimeoutSeconds: 2, maxSessions: 5 }, (running, answer) => {
    assert.equal(answer.env.IDLE, '2');
    assert.deepEqual(answer.args.slice(1), ['--cap', '5']);
    assert.deepEqual(running.settings, { idleTimeoutSeconds: 2, maxSessions: 5 });
  });
  await withCommand(spec, {}, (running, answer) => {
    assert.equal(answer.env.IDLE, undefined);
    assert.deepEqual(running.settings, { idleTimeoutSeconds: null, maxSessions: 100 });
  });
});

test('the probe is put on the path of a Python command only', async () => {
  const python = listener({ probe: 'python', env: { PYTHONPATH: '/mine', PYTHONDONTWRITEBYTECODE: '' } });
  await withCommand(python, {}, (_, { env }) => {
    assert.equal(env.PYTHONPATH, [PYTHON_PROBE, '/mine'].join(path.delimiter));
    assert.equal(env.MCP_RETENTION_PROBE_DIR, directory);
  });
  await withCommand(listener({ probe: 'self' }), {}, (_, { env }) => {
    assert.equal(env.PYTHONPATH, process.env.PYTHONPATH);
    assert.equal(env.MCP_RETENTION_PROBE_DIR, directory);
    assert.equal(env.PYTHONDONTWRITEBYTECODE, undefined);
  });
  await withCommand(listener(), {}, (_, { env }) => assert.equal(env.MCP_RETENTION_PROBE_DIR, undefined));
});

test('readiness by a route waits for that route', async () => {
  const spec = listener({ readiness: { url: 'http://127.0.0.1:{port}/healthz' } });
  await withCommand(spec, {}, (running, answer) => assert.equal(running.pid, answer.pid));
});

test('a port that is taken is not measured in the place of ours', async () => {
  const stranger = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => stranger.once('listening', resolve));
  const { port } = stranger.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/mcp`;
  const build = await commandBuild('mine', listener({ url }), { allowHosts: [] }).prepare(
    signal,
    () => undefined,
  );
  const options = { settings: {}, probeDir: directory, logFile: path.join(directory, 'log'), signal };
  await assert.rejects(
    build.start(options),
    (error) => error instanceof TargetError && /is taken/.test(error.message),
  );
  stranger.close();
});

test('a command whose URL is another machine is refused until it is allowed', async () => {
  const spec = listener({ url: 'http://192.0.2.1:{port}/mcp' });
  const admit = (allowHosts: string[]): Promise<void> => commandBuild('mine', spec, { allowHosts }).admit();
  await assert.rejects(
    admit([]),
    (error) => error instanceof UsageError && /--allow-host 192\.0\.2\.1/.test(error.message),
  );
  await admit(['192.0.2.1']);
});

test('load by URL goes to this machine only', async () => {
  const admit = (url: string, allowHosts: string[] = []): Promise<void> =>
    urlBuild(url, { url }, { allowHosts, probe: false }).admit();
  for (const url of [
    'http://127.0.0.1/mcp',
    'http://localhost:8000/mcp',
    'https://[::1]/mcp',
    'http://127.9.9.9/',
  ]) {
    await admit(url);
  }
  await admit('http://[::ffff:127.0.0.1]:1/mcp');
  for (const url of [
    'http://192.0.2.1/mcp',
    'http://0.0.0.0:8000/mcp',
    'http://[2001:db8::1]/mcp',
    'http://10.0.0.1/',
  ]) {
    await assert.rejects(
      admit(url),
      (error) => error instanceof UsageError && /--allow-host/.test(error.message),
      url,
    );
  }
  await admit('http://192.0.2.1:81/mcp', ['192.0.2.1']);
  await admit('http://192.0.2.1:81/mcp', ['192.0.2.1:81']);
  await assert.rejects(admit('http://192.0.2.1:81/mcp', ['192.0.2.1:82', '2.0.2.1']), UsageError);
  await assert.rejects(admit('http://no-such-host.invalid/mcp'), UsageError);
});

test('a server that someone else runs is watched by bare connects', async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const spec = { url: `http://127.0.0.1:${port}/mcp?key=s3cret`, pid: process.pid, headers: { A: 'b' } };
  const build = await urlBuild('theirs', spec, { allowHosts: [], probe: true }).prepare(
    signal,
    () => undefined,
  );
  assert.equal(build.foreign, true);
  assert.deepEqual(build.record.abilities, { probe: true, pid: true, settings: [] });
  assert.ok(!JSON.stringify(build.record).includes('s3cret'));
  const options = { settings: {}, probeDir: directory, logFile: path.join(directory, 'log'), signal };
  const running = await build.start(options);
  assert.deepEqual([running.pid, running.headers, running.startMs], [process.pid, { A: 'b' }, 0]);
  await running.stop();
  assert.equal(await running.alive(), true, 'stopping leaves it alone');
  assert.equal(running.death(), null);
  server.close();
  assert.equal(await running.alive(), false);
  assert.match(running.death() ?? '', /does not accept connections/);
  assert.equal(requests, 0);
  await assert.rejects(build.start(options), TargetError);
});

test('a pid that is not there is told before anything runs', linuxOnly, async () => {
  const spec = { url: 'http://127.0.0.1:1/mcp', pid: 2 ** 22 + 1 };
  const build = urlBuild('theirs', spec, { allowHosts: [], probe: false });
  await assert.rejects(build.admit(), UsageError);
});
