import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { allProcesses, readProcess } from '../../src/observe/process.ts';
import { startProgram, whenReady, type Program } from '../../src/targets/supervisor.ts';
import { TargetError } from '../../src/targets/target.ts';
import { eventually, fixture, livingIn } from '../fixtures/programs/paths.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'mcp-retention-supervisor-'));
test.after(() => rmSync(directory, { recursive: true }));

const linuxOnly = process.platform === 'linux' ? {} : { skip: 'looks into /proc' };
const signal = new AbortController().signal;
let logs = 0;
const newLog = (): string => path.join(directory, `${++logs}.log`);

const shell = (script: string, logFile = newLog()): Promise<Program> =>
  startProgram({ label: 'program', command: '/bin/sh', args: ['-c', script], env: process.env, logFile });

/** Waits until the program has written a line. */
const said = (program: Program, line: string): Promise<true> =>
  whenReady(program, () => Promise.resolve(program.log.next().includes(line) || null), { signal });

const guardians = (): number[] =>
  allProcesses()
    .filter((stat) => stat.living && commandOf(stat.pid).includes('mcp-retention-guardian'))
    .filter((stat) => stat.parent === process.pid)
    .map((stat) => stat.pid);

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

test('a program that ends with its stdin is not killed, and its log is private', linuxOnly, async () => {
  const log = newLog();
  const program = await shell('echo ready; cat; echo bye', log);
  await said(program, 'ready');
  assert.equal(program.alive(), true);
  await program.stop();
  assert.equal(program.alive(), false);
  assert.equal(program.death(), null);
  assert.equal(readFileSync(log, 'utf8'), 'ready\nbye\n');
  assert.equal(statSync(log).mode & 0o777, 0o600);
  assert.deepEqual(livingIn(program.pid), []);
});

test('a program that ignores stdin and SIGTERM ends all the same, with its child', linuxOnly, async () => {
  const program = await shell("trap '' TERM; sleep 1000 & echo ready; while :; do sleep 1; done");
  await said(program, 'ready');
  assert.ok((readProcess(program.pid)?.children ?? 0) >= 1);
  await program.stop();
  assert.deepEqual(livingIn(program.pid), []);
});

test('stopping twice is one stop', linuxOnly, async () => {
  const program = await shell('echo ready; cat');
  await said(program, 'ready');
  await Promise.all([program.stop(), program.stop()]);
  assert.equal(program.alive(), false);
});

test('a program that ends at once says why, without secrets', async () => {
  const id = '0123456789abcdef0123456789abcdef';
  const program = await shell(`echo "cannot bind, session ${id}" >&2; exit 3`);
  await assert.rejects(
    whenReady(program, () => Promise.resolve(null), { signal }),
    (error) =>
      error instanceof TargetError &&
      /^program ended with exit code 3 before it was ready\..*cannot bind/s.test(error.message) &&
      !error.message.includes(id),
  );
  assert.match(program.death() ?? '', /^program ended with exit code 3\./);
});

test('a program that is never ready is given up and stopped', linuxOnly, async () => {
  const program = await shell('echo still loading; exec sleep 1000');
  await said(program, 'still loading');
  await assert.rejects(
    whenReady(program, () => Promise.resolve(null), { signal, deadlineMs: 200 }),
    (error) => error instanceof TargetError && /not ready within 0\.2 s.*still loading/s.test(error.message),
  );
  assert.deepEqual(livingIn(program.pid), []);
});

test('an interrupted start leaves nothing behind', linuxOnly, async () => {
  const program = await shell('exec sleep 1000');
  const abort = new AbortController();
  const waiting = whenReady(program, () => Promise.resolve(null), { signal: abort.signal });
  abort.abort();
  await assert.rejects(waiting, /interrupted/);
  assert.deepEqual(livingIn(program.pid), []);
});

test('a command that does not exist is a sentence', async () => {
  const spec = { label: 'ghost', command: '/no/such/program', args: [], env: process.env, logFile: newLog() };
  await assert.rejects(
    startProgram(spec),
    (error) => error instanceof TargetError && /^ghost cannot/.test(error.message),
  );
});

test('a program that dies takes its grandchildren along', linuxOnly, async () => {
  const program = await shell('sleep 1000 & echo ready; read -r line');
  await said(program, 'ready');
  process.kill(program.pid, 'SIGKILL');
  assert.ok(await eventually(() => program.death() !== null));
  assert.match(program.death() ?? '', /was ended by SIGKILL/);
  assert.ok(await eventually(() => livingIn(program.pid).length === 0));
  await program.stop();
});

test('guardians end with their programs', linuxOnly, async () => {
  const program = await shell('echo ready; cat');
  await said(program, 'ready');
  assert.ok(guardians().length >= 1);
  await program.stop();
  assert.ok(await eventually(() => guardians().length === 0));
});

test('a tool that is killed with SIGKILL leaves no process behind', linuxOnly, async () => {
  // Deaf to the end of stdin and to SIGTERM, with a child in the same group.
  const script = "trap '' TERM HUP; sleep 1000 & while :; do sleep 1; done";
  const keeper = spawn(
    process.execPath,
    ['--import', 'tsx', fixture('keeper.ts'), newLog(), '/bin/sh', '-c', script],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = (await once(createInterface(keeper.stdout), 'line')) as [string];
  const group = Number(line);
  assert.ok(await eventually(() => livingIn(group).length >= 2));
  keeper.kill('SIGKILL');
  assert.ok(await eventually(() => livingIn(group).length === 0), `left: ${livingIn(group).join(' ')}`);
});

test('what a server says when it serves is no reason for its death', async () => {
  const program = await shell(`echo '{"event":"ready","url":"http://127.0.0.1:1/mcp"}'; exit 1`);
  await assert.rejects(
    whenReady(program, () => Promise.resolve(null), { signal }),
    (error) => error instanceof TargetError && /Its log gives no reason\.$/.test(error.message),
  );
});

test('what cannot be started is told by what is missing', async () => {
  const start = (more: object): Promise<Program> =>
    startProgram({
      label: 'program',
      command: 'no-such-program',
      args: [],
      env: process.env,
      logFile: newLog(),
      ...more,
    });
  const told = (sentence: RegExp) => (error: unknown) =>
    error instanceof TargetError && sentence.test(error.message) && !/spawn|ENOENT: /.test(error.message);
  await assert.rejects(start({}), told(/there is no program no-such-program: correct the command/));
  await assert.rejects(
    start({ command: '/bin/sh', cwd: '/nowhere' }),
    told(/there is no directory \/nowhere/),
  );
  await assert.rejects(start({ logFile: '/nowhere/log' }), told(/its log \/nowhere\/log cannot be written/));
});
