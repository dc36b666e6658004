import assert from 'node:assert/strict';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { ProbeReader } from '../../src/observe/sessions.ts';
import { Speaker } from '../fixtures/servers/speaker.ts';

const PROGRAM = fileURLToPath(new URL('../fixtures/servers/suspect.ts', import.meta.url));

function start(
  t: TestContext,
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, ...args], {
    env: { ...process.env, ...env },
  });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

async function ready(
  child: ChildProcessWithoutNullStreams,
): Promise<{ url: string; health: string; pid: number }> {
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as { event: string; url: string; health: string; pid: number };
    assert.equal(said.event, 'ready');
    return said;
  }
  throw new Error('the program ended before it was ready');
}

async function probeDir(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'mcp-retention-test-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

test('the program says where it is, answers health and probe, and ends with stdin', async (t) => {
  const dir = await probeDir(t);
  const child = start(t, ['--port', '0', '--max-sessions', 'none'], {
    MCP_RETENTION_PROBE_DIR: dir,
    SUSPECT_IDLE_TIMEOUT: '60',
    SUSPECT_MAX_SESSIONS: '9',
  });
  const { health, pid } = await ready(child);
  assert.equal(pid, child.pid);
  const { statusCode, body } = await request(health);
  assert.deepEqual([statusCode, await body.text()], [200, 'ok']);
  const reader = new ProbeReader();
  const { workers, errors } = await reader.read(dir, { timeoutMs: 10_000 });
  await reader.close();
  assert.deepEqual(errors, []);
  const manager = workers[0]?.snapshot.managers[0];
  // The argument wins over the variable; health has not touched the endpoint.
  assert.deepEqual(
    [manager?.idleTimeoutSeconds, manager?.sessionLimit, manager?.registrations],
    [60, null, 0],
  );
  const ended = once(child, 'exit');
  child.stdin.end();
  assert.deepEqual(await ended, [0, null]);
  assert.deepEqual(readdirSync(dir), []);
});

test('SIGTERM ends it while a stream is open; without a probe directory there is no probe', async (t) => {
  const child = start(t, []);
  const { url } = await ready(child);
  const speaker = new Speaker(url);
  t.after(() => speaker.close());
  const stream = await speaker.stream(await speaker.open());
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  await stream.ended;
});

test('the probe listens on an address, or not at all, when told so', async (t) => {
  const dir = await probeDir(t);
  const listening = start(t, [], { MCP_RETENTION_PROBE_DIR: dir, MCP_RETENTION_PROBE_LISTEN: '127.0.0.1:0' });
  const { pid } = await ready(listening);
  assert.ok(existsSync(join(dir, `${pid}.addr`)));
  const reader = new ProbeReader();
  assert.equal((await reader.read(dir, { timeoutMs: 10_000 })).workers[0]?.worker, String(pid));
  const message = await reader.readProcessMessage(dir, String(pid), { timeoutMs: 10_000 });
  assert.equal(message?.pid, pid);
  await reader.close();
  const other = await probeDir(t);
  await ready(start(t, [], { MCP_RETENTION_PROBE_DIR: other, MCP_RETENTION_PROBE: 'off' }));
  assert.deepEqual(readdirSync(other), []);
});

test('dies-after-delete exits with code 3 once it has answered', async (t) => {
  const child = start(t, ['--fault', 'dies-after-delete', '--fault-rate', '2']);
  const { url } = await ready(child);
  const speaker = new Speaker(url);
  t.after(() => speaker.close());
  const ended = once(child, 'exit');
  assert.equal(await speaker.delete(await speaker.open()), 200);
  assert.equal(await speaker.delete(await speaker.open()), 200);
  assert.deepEqual(await ended, [3, null]);
});

for (const args of [
  ['--fault', 'nothing-such'],
  ['--delay', '5'],
  ['--fault-rate', '5'],
  ['--port', 'x'],
  ['--idle-timeout', '0'],
]) {
  test(`${args.join(' ')} is refused with one sentence and code 2`, async (t) => {
    const child = start(t, args);
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    assert.deepEqual(await once(child, 'close'), [2, null]);
    assert.match(said, /^[^\n]+\n$/);
  });
}
