/** The command line in a hostile place: wrong paths, full disks, closed streams, broken environments. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readRecording } from '../../src/recording/reader.ts';
import { cli, COMMAND, inFolder, oneSentence, start, type Finished } from '../support/cli.ts';
import { suspectConfig } from '../support/measure.ts';

const GOLDEN = new URL('../golden/recording.v1.ndjson', import.meta.url).pathname;
const linuxOnly = { skip: process.platform !== 'linux' };
/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:1/mcp';

const suspect = (folder: string): void =>
  writeFileSync(join(folder, 'mcp-retention.yaml'), suspectConfig(null));

/** Runs a script of sh in which "$@" is the command line. */
const shell = (script: string, args: readonly string[], folder: string): Promise<Finished> =>
  start(args, { cwd: folder, command: ['bash', '-c', script, 'bash', ...COMMAND] }).finished;

/** The same with a file system of its own at `full`, which only these processes see. */
const withDisk = (
  size: string,
  script: string,
  args: readonly string[],
  folder: string,
): Promise<Finished> => {
  const all = `mkdir full && mount -t tmpfs -o size=${size} tmpfs full && ${script}`;
  const command = ['unshare', '--map-root-user', '--mount', 'sh', '-c', all, 'sh', ...COMMAND];
  return start(args, { cwd: folder, command }).finished;
};

describe('what is wrong is said before anything starts', { concurrency: 2 }, () => {
  const check = ['check', 'suspect', '--case', 'delete', '--sessions', '5'];
  const refused: [string[], RegExp][] = [
    [[...check, '--out', ''], /--out names no folder/],
    [[...check, '--out', 'mcp-retention.yaml'], /--out mcp-retention\.yaml cannot be used/],
    [[...check, '--out', 'x'.repeat(300)], /the name is too long/],
    [[...check, '--json', '.'], /--json \. is a folder: name a file in it/],
    [
      [...check, '--markdown', 'nowhere/r.md'],
      /--markdown nowhere\/r\.md cannot be written: it is not there/,
    ],
    [[...check, '--json', ''], /--json names no file/],
    [[...check, '--json', 'r', '--markdown', './r'], /both name \.\/r/],
    [[...check, '--out', 'o', '--json', 'o/recording.ndjson'], /is the recording, which is kept/],
    [['report', GOLDEN, '--json', '.'], /--json \. is a folder/],
    [['report', GOLDEN, '--markdown', GOLDEN], /is the recording, which is kept/],
    [['check', 'python:mcp@1.30.0', '--header', 'A: b'], /--header goes with a server that is not/],
    [['check', 'python:mcp@1.30.0', '--allow-host', 'h'], /--allow-host goes with a server that is not/],
    [['check', 'http://no-such-host.invalid/mcp'], /no-such-host\.invalid cannot be resolved/],
    [['wander', '--help'], /unknown command 'wander'/],
    [['help', 'wander'], /unknown command 'wander'/],
    [['config', 'wander', '--help'], /unknown command 'wander'/],
    [['check', 'x', '--config', ''], /the name of the configuration is empty/],
    [['check', 'x', '--config', '.'], /it is a folder/],
  ];
  for (const [args, sentence] of refused)
    test(args.join(' ').slice(0, 100), () =>
      inFolder(async (folder) => {
        suspect(folder);
        const finished = await cli(args, folder);
        oneSentence(finished, 2, sentence);
        assert.equal(finished.stdout, '');
        assert.deepEqual(readdirSync(folder), ['mcp-retention.yaml'], 'nothing was written');
      }),
    );
  test('--out in a file system that makes no folders', linuxOnly, () =>
    inFolder(async (folder) => {
      suspect(folder);
      oneSentence(
        await cli([...check, '--out', '/proc/x/y'], folder),
        2,
        /--out \/proc\/x\/y cannot be used/,
      );
    }),
  );
  for (const command of ['check', 'config', 'probe'])
    test(`${command} --help is help`, () =>
      inFolder(async (folder) => {
        const { code, stdout } = await cli([command, '--help'], folder);
        assert.equal(code, 0);
        assert.match(stdout, new RegExp(`^Usage: mcp-retention ${command}`));
      }));
});

test('whoever closes the streams gets the exit code of the work', () =>
  inFolder(async (folder) => {
    const both = '"$@" 2>&1 | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}';
    assert.equal((await shell(both, ['check', NOBODY], folder)).code, 3);
    const errors = '"$@" 2> >(true); exit $?';
    assert.equal((await shell(errors, ['check', 'nobody'], folder)).code, 2);
    const none = '"$@" >&- 2>&-';
    assert.equal((await shell(none, ['report', GOLDEN], folder)).code, 1);
  }));

test('a defect exits with 3 and its stack', () =>
  inFolder(async (folder) => {
    writeFileSync(
      join(folder, 'defect.mjs'),
      `const timer = setInterval(() => {
        if (process.listenerCount('uncaughtException') === 0) return;
        clearInterval(timer);
        throw new TypeError('a defect');
      }, 1);`,
    );
    const command = ['env', `NODE_OPTIONS=--import ./defect.mjs`, ...COMMAND];
    const { code, stderr } = await start(['check', NOBODY], { cwd: folder, command }).finished;
    assert.equal(code, 3);
    assert.match(stderr, /TypeError: a defect\n\s+at /);
  }));

test('a cache that cannot be used is one sentence', () =>
  inFolder(async (folder) => {
    writeFileSync(join(folder, 'file'), '');
    const command = ['env', `XDG_CACHE_HOME=${join(folder, 'file')}`, ...COMMAND];
    const { code, stdout, stderr } = await start(['check', 'python:mcp@1.30.0', '--case', 'delete'], {
      cwd: folder,
      command,
    }).finished;
    assert.equal(code, 3, stderr);
    assert.match(stdout, /the cache .*file\/mcp-retention cannot be used: .*XDG_CACHE_HOME/);
    assert.doesNotMatch(stderr, /^\s+at /m);
  }));

test('a disk that is full from the start is one sentence, and no recording is left', linuxOnly, () =>
  inFolder(async (folder) => {
    suspect(folder);
    const script =
      'mkdir -p full/out/logs; head -c 100000 /dev/zero >full/zeros 2>/dev/null; "$@"; code=$?; ls full/out; exit $code';
    const args = ['check', 'suspect', '--case', 'delete', '--sessions', '5', '--out', 'full/out'];
    const finished = await withDisk('64k', script, args, folder);
    oneSentence(finished, 3, /error: .*full\/out.* the disk is full \(ENOSPC\)/);
    assert.equal(finished.stdout.trim(), 'logs');
  }),
);

test('a report is written whole or not at all', linuxOnly, () =>
  inFolder(async (folder) => {
    const script =
      'echo {} >full/r.json; head -c 100000 /dev/zero >full/zeros 2>/dev/null; "$@" >/dev/null; code=$?; cat full/r.json; ls -A full; exit $code';
    const finished = await withDisk('64k', script, ['report', GOLDEN, '--json', 'full/r.json'], folder);
    oneSentence(finished, 3, /full\/r\.json.* the disk is full/);
    assert.deepEqual(finished.stdout.trim().split('\n'), ['{}', 'r.json', 'zeros']);
  }),
);

test('a report goes to a pipe, and through a symbolic link', linuxOnly, () =>
  inFolder(async (folder) => {
    const piped = await shell(
      '"$@" | cat >all; ln -s real.json link',
      ['report', GOLDEN, '--json', '/dev/stdout'],
      folder,
    );
    assert.equal(piped.code, 0);
    assert.match(readFileSync(join(folder, 'all'), 'utf8'), /"schema": "mcp-retention\/report\/v1"/);
    assert.equal((await cli(['report', GOLDEN, '--json', 'link'], folder)).code, 1);
    assert.ok(existsSync(join(folder, 'real.json')));
  }),
);

for (const signals of [['SIGQUIT'], ['SIGINT', 'SIGINT']] as const)
  test(`${signals.join(' and ')} leave a recording with an end`, linuxOnly, () =>
    inFolder(async (folder) => {
      suspect(folder);
      const args = ['check', 'suspect', '--case', 'delete', '--sessions', '100000', '--out', 'out'];
      const temporary = join(folder, 'tmp');
      mkdirSync(temporary);
      const running = start(args, { cwd: folder, command: ['env', `TMPDIR=${temporary}`, ...COMMAND] });
      const path = join(folder, 'out', 'recording.ndjson');
      for (let i = 0; i < 600 && !(existsSync(path) && readFileSync(path, 'utf8').includes('"load:5"')); i++)
        await new Promise((resolve) => setTimeout(resolve, 50));
      for (const signal of signals) {
        running.child.kill(signal);
        if (signals.length > 1) await running.saw('again to stop at once').catch(() => undefined);
      }
      assert.equal((await running.finished).code, 3);
      const left = readdirSync(temporary).filter((name) => name.startsWith('mcpr-'));
      assert.deepEqual(left, [], 'no private folder stays behind');
      const recording = await readRecording(path);
      assert.equal(recording.end?.reason, 'interrupted');
      assert.deepEqual(recording.damage, []);
    }),
  );

test('a token in the URL or in the arguments stands nowhere', () =>
  inFolder(async (folder) => {
    const server = createServer((_, response) => response.writeHead(500).end('no')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const args = ['--case', 'delete', '--log-level', 'debug'];
    const byUrl = await cli(['check', `${url}?api_key=S3CRET`, '--out', 'url', ...args], folder);
    server.close();
    writeFileSync(
      join(folder, 'mcp-retention.yaml'),
      JSON.stringify({
        version: 1,
        targets: {
          mine: {
            command: process.execPath,
            args: ['-e', '0', '--', '--db=postgres://u:S3CRET@h/x', 'Bearer S3CRET', '--token', 'S3CRET'],
            url: 'http://127.0.0.1:{port}/mcp',
          },
        },
      }),
    );
    const byArguments = await cli(['check', 'mine', '--out', 'command', ...args], folder);
    const list = await cli(['targets'], folder);
    for (const { code, stdout, stderr } of [byUrl, byArguments, list]) {
      assert.ok(code === 3 || code === 0);
      assert.ok(!(stdout + stderr).includes('S3CRET'), stdout + stderr);
    }
    assert.match(list.stdout, /mine {2}.*--token \[secret\]/);
    for (const out of ['url', 'command'])
      for (const file of ['recording.ndjson', 'report.json', 'report.md'])
        assert.ok(!readFileSync(join(folder, out, file), 'utf8').includes('S3CRET'), file);
  }));

test('a directory that is missing is named, not the program in it', () =>
  inFolder(async (folder) => {
    mkdirSync(join(folder, 'there'));
    writeFileSync(
      join(folder, 'mcp-retention.yaml'),
      'version: 1\ntargets: { a: { command: node, cwd: nowhere, url: "http://127.0.0.1:{port}/mcp" } }\n',
    );
    const { code, stdout } = await cli(['check', 'a', '--case', 'delete'], folder);
    assert.equal(code, 3);
    assert.match(stdout, /a cannot be started: there is no directory nowhere: correct its cwd/);
  }));
