/** Files that a user names may be pipes: they are read to their end, and one that nobody writes to holds nothing up. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../fixtures/servers/speaker.ts';
import { cli, COMMAND, inFolder, oneSentence, start } from '../support/cli.ts';

const onLinux = { skip: process.platform !== 'linux' };
const RECORDING = new URL('../golden/recording.v1.ndjson', import.meta.url).pathname;
const CONFIG = new URL('../golden/config.v1.yaml', import.meta.url).pathname;
const SERVING = 'version: 1\nexporter:\n  targets:\n    shop: { probeDir: x }\n';

function holds(pid: number | undefined, path: string): boolean {
  const descriptors = `/proc/${pid}/fd`;
  return readdirSync(descriptors).some((fd) => {
    try {
      return readlinkSync(join(descriptors, fd)) === path;
    } catch {
      return false; // closed meanwhile
    }
  });
}

test('a full disk under the output is one sentence and exit code 3', onLinux, async () => {
  const child = spawn('sh', ['-c', 'exec "$@" >/dev/full', 'sh', ...COMMAND, 'report', RECORDING]);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  assert.equal(code, 3);
  assert.match(said, /^error: cannot write the output: the disk is full \(ENOSPC\)\.\n$/);
});

describe('a pipe that nobody writes to', { concurrency: 2, ...onLinux }, () => {
  const commands: string[][] = [
    ['report', 'pipe'],
    ['compare', 'pipe', RECORDING],
    ['config', 'check', 'pipe'],
    ['load', 'http://127.0.0.1:1/mcp', '--duration', '1m', '--config', 'pipe'],
    ['exporter', '--web-config', 'pipe'],
    ['exporter', '--web-config', 'tls.yml'],
  ];
  for (const args of commands)
    test(`is left at the first signal: ${args.join(' ').replace(RECORDING, 'FILE')}`, () =>
      inFolder(async (folder) => {
        const pipe = join(realpathSync(folder), 'pipe');
        execFileSync('mkfifo', [pipe]);
        writeFileSync(join(folder, 'mcp-retention.yaml'), SERVING);
        writeFileSync(
          join(folder, 'tls.yml'),
          'tls_server_config:\n  cert_file: pipe\n  key_file: server.key\n',
        );
        const { child, finished } = start(args, { cwd: folder });
        try {
          await eventually('it waits', () => Promise.resolve(holds(child.pid, pipe)));
          child.kill('SIGINT');
          const { code, stdout, stderr } = await finished;
          assert.deepEqual([code, stdout], [3, ''], stderr);
          assert.match(stderr.trim(), /^stopping: [^\n]+$/);
        } finally {
          child.kill('SIGKILL');
        }
      }));
});

test('a recording through a pipe is read like its file, by its name or from the shell', () =>
  inFolder(async (folder) => {
    const wanted = await cli(['report', RECORDING], folder);
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', 'exec cat "$1" > "$2"', 'sh', RECORDING, pipe]);
    assert.deepEqual(await cli(['report', pipe], folder), wanted);
    if (writer.exitCode === null) await once(writer, 'exit');
    const quoted = [...COMMAND, 'report'].map((word) => `'${word}'`).join(' ');
    for (const line of [
      `${quoted} <(cat '${RECORDING}')`,
      `cat '${RECORDING}' | ${quoted} /dev/stdin`,
      `${quoted} /dev/stdin < '${RECORDING}'`,
    ])
      assert.deepEqual(
        await start([], { cwd: folder, command: ['bash', '-c', line] }).finished,
        wanted,
        line,
      );
  }));

test('a configuration through a pipe is read like its file; an endless one is not read for ever', () =>
  inFolder(async (folder) => {
    const quoted = COMMAND.map((word) => `'${word}'`).join(' ');
    const line = `${quoted} targets --config <(cat '${CONFIG}')`;
    const { stdout, ...rest } = await start([], { cwd: folder, command: ['bash', '-c', line] }).finished;
    assert.deepEqual(rest, { code: 0, stderr: '' });
    assert.equal(stdout, (await cli(['targets', '--config', CONFIG], folder)).stdout);
    oneSentence(
      await cli(['config', 'check', '/dev/zero'], folder),
      2,
      /cannot read the configuration \/dev\/zero: it is larger than 16 MiB\.\n$/,
    );
  }));
