import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ProbeReader, toManagerSamples } from '../../src/observe/sessions.ts';
import { managerSample } from '../../src/recording/schema.ts';
import { eventually, Speaker } from '../fixtures/servers/speaker.ts';
import { startSuspect, type RunningSuspect, type SuspectOptions } from '../fixtures/servers/suspect.ts';

/** Enough for any machine; a hung probe is given less. */
const PATIENT = { timeoutMs: 10_000 };
const OWN = String(process.pid);

async function probeDir(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'mcp-retention-test-'));
  await chmod(dir, 0o700);
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

function reading(t: TestContext): ProbeReader {
  const reader = new ProbeReader();
  t.after(() => reader.close());
  return reader;
}

async function suspectIn(t: TestContext, dir: string, options: SuspectOptions = {}): Promise<RunningSuspect> {
  const suspect = await startSuspect({ ...options, probeDir: dir });
  t.after(() => suspect.close());
  return suspect;
}

/** A program in place of a probe, at the socket of this process (or of `worker`). */
async function listenIn(t: TestContext, dir: string, server: Server, worker = OWN): Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  await once(server.listen(join(dir, `${worker}.sock`)), 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

const httpProbe = (answer: RequestListener): Server => createHttpServer(answer);

/** The id of a process that has ended and was reaped. */
async function deadPid(): Promise<string> {
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  return String(child.pid);
}

test('counts arrive as they are, over one connection, and become samples', async (t) => {
  const dir = await probeDir(t);
  const suspect = await suspectIn(t, dir, { maxSessions: 7 });
  const speaker = new Speaker(suspect.url);
  t.after(() => speaker.close());
  const reader = reading(t);
  await speaker.open();
  for (let i = 0; i < 20; i++) await reader.read(dir, PATIENT);
  const { workers, errors } = await reader.read(dir, PATIENT);
  assert.deepEqual(errors, []);
  const [sample] = toManagerSamples(workers);
  assert.deepEqual(managerSample.parse(sample), sample);
  assert.deepEqual([sample?.worker, sample?.registered, sample?.sessionLimit], [OWN, 1, 7]);
  assert.deepEqual(await reader.discover(dir), [
    { worker: OWN, kind: 'socket', path: join(dir, `${OWN}.sock`) },
  ]);
});

test('samples share a connection, and one that the probe closed meanwhile is replaced unnoticed', async (t) => {
  const dir = await probeDir(t);
  const suspect = await suspectIn(t, await probeDir(t));
  let connections = 0;
  const open = new Set<Socket>();
  const server = httpProbe((_, res) => res.end(JSON.stringify(suspect.snapshot())));
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
  });
  await listenIn(t, dir, server);
  const reader = reading(t);
  for (let i = 0; i < 5; i++) assert.equal((await reader.read(dir, PATIENT)).workers.length, 1);
  assert.equal(connections, 1);
  for (const socket of open) socket.destroy();
  assert.equal((await reader.read(dir, PATIENT)).workers.length, 1);
  assert.equal(connections, 2);
});

test('the process message arrives; none for a worker that is not there', async (t) => {
  const dir = await probeDir(t);
  await suspectIn(t, dir);
  const reader = reading(t);
  const message = await reader.readProcessMessage(dir, OWN, PATIENT);
  assert.equal(message?.pid, process.pid);
  if (existsSync('/proc/self/statm')) {
    assert.match(message?.files['/proc/self/statm'] ?? '', /^\d+ \d+/);
    assert.ok((message?.entries['/proc/self/fd'] ?? 0) > 0);
  }
  assert.equal(await reader.readProcessMessage(dir, '1', PATIENT), null);
  assert.equal(await reader.readProcessMessage(join(dir, 'none'), OWN, PATIENT), null);
});

test('a probe on a loopback address is read; another address is not even tried', async (t) => {
  const dir = await probeDir(t);
  await suspectIn(t, dir, { probeListen: '127.0.0.1:0' });
  const reader = reading(t);
  assert.equal((await reader.read(dir, PATIENT)).workers.length, 1);
  for (const address of ['192.0.2.1:80', 'example.com:80', '127.0.0.1:80@192.0.2.1:80', 'nonsense', '']) {
    const other = await probeDir(t);
    await writeFile(join(other, `${OWN}.addr`), address);
    const { workers, errors } = await reader.read(other, PATIENT);
    assert.deepEqual([workers.length, errors.length], [0, 1]);
    assert.match(errors[0]?.reason ?? '', /loopback/);
  }
});

test('a hung probe costs its deadline and no other worker its counts', async (t) => {
  const dir = await probeDir(t);
  const suspect = await suspectIn(t, dir);
  await suspectIn(t, await probeDir(t));
  const parent = String(process.ppid);
  await listenIn(t, dir, createServer(), parent);
  const reader = reading(t);
  await reader.read(dir, { timeoutMs: 50 });
  const { workers, errors } = await reader.read(dir, { timeoutMs: 1000 });
  assert.deepEqual(errors, [{ worker: parent, reason: 'The probe gave no answer within 1000 ms.' }]);
  assert.deepEqual([workers.length, workers[0]?.snapshot.pid], [1, suspect.pid]);
});

const WRONG: readonly { name: string; answer: RequestListener; reason: RegExp }[] = [
  {
    name: 'half-written',
    reason: /closed the connection/,
    answer: (_, res) => {
      res.writeHead(200, { 'content-length': '1000' });
      res.write('{"schema":', () => res.destroy());
    },
  },
  {
    name: 'stalled',
    reason: /no answer within/,
    answer: (_, res) => {
      res.writeHead(200, { 'content-length': '1000' });
      res.write('{"schema":');
    },
  },
  { name: 'garbage', reason: /not JSON/, answer: (_, res) => res.end('<html>') },
  { name: 'empty', reason: /not JSON/, answer: (_, res) => res.end() },
  {
    name: 'of another contract',
    reason: /contract at schema/,
    answer: (_, res) => res.end('{"schema":"v2"}'),
  },
  { name: 'an error', reason: /HTTP 500/, answer: (_, res) => res.writeHead(500).end('{}') },
  { name: 'a redirect', reason: /HTTP 302/, answer: (_, res) => res.writeHead(302, { location: '/' }).end() },
  {
    name: 'endless',
    reason: /larger than/,
    answer: (_, res) => {
      const more = (): void => {
        if (res.writable) res.write('x'.repeat(65_536), more);
      };
      more();
    },
  },
];

for (const { name, answer, reason } of WRONG) {
  test(`an answer that is ${name} is reported in one sentence`, async (t) => {
    const dir = await probeDir(t);
    await listenIn(t, dir, httpProbe(answer));
    const { workers, errors } = await reading(t).read(dir, name === 'stalled' ? { timeoutMs: 300 } : PATIENT);
    assert.deepEqual([workers.length, errors.length, errors[0]?.worker], [0, 1, OWN]);
    assert.match(errors[0]?.reason ?? '', reason);
    assert.match(errors[0]?.reason ?? '', /^[^\n]{1,200}\.$/);
  });
}

test('what is not HTTP is reported, and so is a snapshot of another process', async (t) => {
  const dir = await probeDir(t);
  await listenIn(
    t,
    dir,
    createServer((socket) => socket.end('SSH-2.0\r\n\r\n')),
  );
  const reader = reading(t);
  assert.match((await reader.read(dir, PATIENT)).errors[0]?.reason ?? '', /not HTTP/);
  const other = await probeDir(t);
  const suspect = await suspectIn(t, await probeDir(t));
  const answer: RequestListener = (_, res) => res.end(JSON.stringify({ ...suspect.snapshot(), pid: 1 }));
  await listenIn(t, other, httpProbe(answer));
  assert.match((await reader.read(other, PATIENT)).errors[0]?.reason ?? '', /for process 1 /);
});

test('leftovers of processes that have ended are passed over, and files that are no probe of ours', async (t) => {
  const dir = await probeDir(t);
  const dead = await deadPid();
  await writeFile(join(dir, `${dead}.sock`), '');
  const gone = await deadPid();
  await writeFile(join(dir, `${gone}.addr`), '127.0.0.1:1\n');
  await symlink(join(dir, 'nowhere'), join(dir, `${await deadPid()}.sock`));
  for (const name of ['0.sock', 'x.sock', '12.sock.aside', '12', '.sock'])
    await writeFile(join(dir, name), '');
  const reader = reading(t);
  assert.deepEqual(await reader.read(dir, PATIENT), { workers: [], errors: [] });
  // The same leftover under the id of a living process is a probe that has died.
  await writeFile(join(dir, `${OWN}.sock`), '');
  const { errors } = await reader.read(dir, PATIENT);
  assert.deepEqual(
    errors.map(({ worker }) => worker),
    [OWN],
  );
});

test('a directory that is not there is an error; an empty one is not', async (t) => {
  const dir = await probeDir(t);
  const reader = reading(t);
  assert.deepEqual(await reader.read(dir, PATIENT), { workers: [], errors: [] });
  const { errors } = await reader.read(join(dir, 'none'), PATIENT);
  assert.deepEqual(errors, [{ worker: '*', reason: 'The probe directory cannot be read (ENOENT).' }]);
});

test('a suspect whose probe vanishes, dies, hangs or talks nonsense', async (t) => {
  const reader = reading(t);
  const vanishing = await probeDir(t);
  const suspect = await suspectIn(t, vanishing);
  assert.equal((await reader.read(vanishing, PATIENT)).workers.length, 1);
  await suspect.close();
  assert.deepEqual(await reader.read(vanishing, PATIENT), { workers: [], errors: [] });

  const dying = await probeDir(t);
  await suspectIn(t, dying, { fault: 'probe-dies' });
  assert.equal((await reader.read(dying, PATIENT)).workers.length, 1);
  await eventually('the probe dies', async () => (await reader.read(dying, PATIENT)).errors.length === 1);
  assert.match(
    (await reader.read(dying, PATIENT)).errors[0]?.reason ?? '',
    /although a process of its number lives/,
  );

  const hanging = await probeDir(t);
  await suspectIn(t, hanging, { fault: 'probe-hangs' });
  assert.match((await reader.read(hanging, { timeoutMs: 200 })).errors[0]?.reason ?? '', /within 200 ms/);

  const garbling = await probeDir(t);
  await suspectIn(t, garbling, { fault: 'probe-garbage' });
  assert.match((await reader.read(garbling, PATIENT)).errors[0]?.reason ?? '', /not JSON/);
});

test('overlapping reads do not disturb each other, also when the connection is lost', async (t) => {
  const dir = await probeDir(t);
  const suspect = await suspectIn(t, await probeDir(t));
  const open = new Set<Socket>();
  const server = httpProbe((_, res) => res.end(JSON.stringify(suspect.snapshot())));
  server.on('connection', (socket: Socket) => open.add(socket));
  await listenIn(t, dir, server);
  const reader = reading(t);
  for (let i = 0; i < 20; i++) {
    const readings = await Promise.all(Array.from({ length: 3 }, () => reader.read(dir, PATIENT)));
    assert.deepEqual(
      readings.map(({ workers, errors }) => [workers.length, errors]),
      readings.map(() => [1, []]),
    );
    for (const socket of open) socket.destroy();
    open.clear();
  }
});
