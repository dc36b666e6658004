/** The command line as people use it: what it prints, what it writes, with which code it exits. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CASES } from '../../src/cases/index.ts';
import { readRecording } from '../../src/recording/reader.ts';
import { FORMATS } from '../../src/report/formats.ts';
import { reportSchema } from '../../src/verdict/schema.ts';
import { allProcesses } from '../../src/observe/process.ts';
import { cli, COMMAND, inFolder, start } from '../support/cli.ts';
import { suspectConfig } from '../support/measure.ts';

const suspect = (folder: string, fault: string | null): void =>
  writeFileSync(join(folder, 'mcp-retention.yaml'), suspectConfig(fault));

/** Living processes of the suspect that were started in this folder: others are of tests beside this one. */
const suspectsIn = (folder: string): number[] =>
  allProcesses()
    .filter(({ pid, living }) => living && isSuspectIn(folder, pid))
    .map(({ pid }) => pid);

function isSuspectIn(folder: string, pid: number): boolean {
  try {
    const ours = readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
    return ours && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('suspect.ts');
  } catch {
    return false;
  }
}

async function gone(folder: string): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (suspectsIn(folder).length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail('a server outlived the tool');
}

describe(
  'bad input is one sentence that names the field and the mend, exit code 2',
  { concurrency: 2 },
  () => {
    const refused: [string[], RegExp][] = [
      [['check'], /check needs a target: python:mcp@VERSION, a URL/],
      [['check', 'python:mcp@1.30.0', '--run', 'r1'], /--run goes with --from-prometheus/],
      [['check', 'nobody'], /no target nobody .*python:mcp@VERSION or a URL/],
      [['check', 'npm:server@1'], /npm: targets are not supported yet/],
      [['check', 'python:mcp@one'], /one in python:mcp@one is not a version/],
      [['check', 'http://192.0.2.1/mcp'], /192\.0\.2\.1 is not this machine.*--allow-host 192\.0\.2\.1/],
      [['check', 'python:mcp@1.30.0', '--case', 'nope'], /--case.*known cases: delete,/],
      [['check', 'python:mcp@1.30.0', '--sessions', '0'], /--sessions.*whole number from 1/],
      [['check', 'python:mcp@1.30.0', '--concurrency', 'many'], /--concurrency.*whole number from 1/],
      [['check', 'http://127.0.0.1/mcp', '--header', 'secret-token'], /--header.*write it as "Name: value"/],
      [['check', 'python:mcp@1.30.0', '--pid', '4'], /--pid goes with a URL/],
      [['check', 'x', '--config', 'absent.yaml'], /no configuration absent\.yaml.*config init/],
      [['report', 'absent.ndjson'], /no recording absent\.ndjson/],
      [['report', 'mcp-retention.yaml'], /is no recording: its first line is not a header/],
      [['config', 'check', 'absent.yaml'], /no configuration absent\.yaml/],
      [['wander'], /unknown command 'wander'/],
    ];
    for (const [args, sentence] of refused)
      test(args.join(' '), () =>
        inFolder(async (folder) => {
          suspect(folder, null);
          const { code, stdout, stderr } = await cli(args, folder);
          assert.equal(code, 2, stderr);
          assert.equal(stdout, '');
          assert.match(stderr, sentence);
          assert.deepEqual(readdirSync(folder), ['mcp-retention.yaml'], 'nothing was written');
        }),
      );
    test('a header is never repeated, whatever is wrong with it', () =>
      inFolder(async (folder) => {
        const { stderr } = await cli(
          ['check', 'http://127.0.0.1/mcp', '--header', 'Bad Name: hunter2'],
          folder,
        );
        assert.ok(!stderr.replace(/argument '.*?' is invalid/, '').includes('hunter2'), stderr);
      }));
  },
);

test('check: table, sentences, files; report gives the same offline', () =>
  inFolder(async (folder) => {
    suspect(folder, 'delete-keeps-entry');
    const args = [
      '--case',
      'delete',
      '--sessions',
      '20',
      '--out',
      'out',
      '--json',
      'r.json',
      '--markdown',
      'r.md',
    ];
    const checked = await cli(['check', 'suspect', ...args], folder);
    assert.equal(checked.code, 1, checked.stderr);
    assert.match(checked.stdout, /✗ 120 kept/);
    assert.match(checked.stdout, /✗ delete\.deregisters {2}A deleted session leaves the registry\./);
    assert.ok(!/\[\d+m/.test(checked.stdout), 'no colours without a terminal');
    const report = reportSchema.parse(JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8')));
    assert.equal(report.verdict, 'fail');
    assert.match(
      readFileSync(join(folder, 'r.md'), 'utf8'),
      /- ❌ `delete\.deregisters` A deleted session leaves the registry\.\n {2}- `suspect`: /,
    );
    assert.deepEqual(
      readdirSync(join(folder, 'out')).sort(),
      ['logs', 'recording.ndjson', ...Object.values(FORMATS).map(({ file }) => file)].sort(),
    );
    const again = await cli(['report', 'out/recording.ndjson', '--json', 'again.json'], folder);
    assert.equal(again.code, 1);
    assert.deepEqual(JSON.parse(readFileSync(join(folder, 'again.json'), 'utf8')), report);
    assert.ok(checked.stdout.startsWith(again.stdout));
    const second = await cli(['check', 'suspect', ...args], folder);
    assert.equal(second.code, 2, 'an earlier recording is not overwritten');
    assert.match(second.stderr, /out\/recording\.ndjson is there already and is kept/);
  }));

test('a clean server exits 0', () =>
  inFolder(async (folder) => {
    suspect(folder, null);
    const { code, stderr } = await cli(['check', 'suspect', '--case', 'delete', '--sessions', '20'], folder);
    assert.equal(code, 0, stderr);
  }));

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(
    `${signal} ends the servers and leaves a usable recording`,
    { skip: process.platform !== 'linux' },
    () =>
      inFolder(async (folder) => {
        suspect(folder, null);
        const args = ['check', 'suspect', '--case', 'delete', '--sessions', '100000', '--out', 'out'];
        const running = start([...args, '--log-level', 'info'], { cwd: folder });
        await underLoad(join(folder, 'out', 'recording.ndjson'));
        assert.notEqual(suspectsIn(folder).length, 0);
        running.child.kill(signal);
        const { code, stdout } = await running.finished;
        assert.equal(code, 3);
        assert.match(stdout, /the run was interrupted/);
        const recording = await readRecording(join(folder, 'out', 'recording.ndjson'));
        assert.equal(recording.end?.reason, 'interrupted');
        assert.deepEqual(recording.damage, []);
        await gone(folder);
      }),
  );

test(
  'SIGKILL leaves no server and a recording that can be read',
  { skip: process.platform !== 'linux' },
  () =>
    inFolder(async (folder) => {
      suspect(folder, null);
      const running = start(
        ['check', 'suspect', '--case', 'delete', '--sessions', '100000', '--out', 'out'],
        { cwd: folder },
      );
      await underLoad(join(folder, 'out', 'recording.ndjson'));
      assert.notEqual(suspectsIn(folder).length, 0);
      running.child.kill('SIGKILL');
      await running.finished;
      await gone(folder);
      const { code, stdout } = await cli(['report', 'out/recording.ndjson'], folder);
      assert.equal(code, 3);
      assert.match(stdout, /The recording was cut/);
    }),
);

test('a disk that fills up ends the run with a sentence', { skip: process.platform !== 'linux' }, () =>
  inFolder(async (folder) => {
    suspect(folder, null);
    // A file system of 256 KiB, seen by these processes alone.
    const script = `mkdir full && mount -t tmpfs -o size=256k tmpfs full && "$@" --out full/out
      code=$?; grep -c '"type":"op"' full/out/recording.ndjson; exit $code`;
    const command = ['unshare', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', ...COMMAND];
    const args = ['check', 'suspect', '--case', 'delete', '--sessions', '20000'];
    const { code, stdout, stderr } = await start(args, { cwd: folder, command }).finished;
    assert.equal(code, 3, stderr);
    assert.match(
      stderr,
      /error: cannot go on writing full\/out\/recording\.ndjson: the disk is full \(ENOSPC\)/,
    );
    assert.ok(Number(stdout.trim().split('\n').at(-1)) > 100, 'what fitted is there');
  }),
);

test('cases, targets, probe and config tell what there is', () =>
  inFolder(async (folder) => {
    const cases = await cli(['cases'], folder);
    for (const definition of CASES) assert.match(cases.stdout, new RegExp(`^${definition.id}: `, 'm'));
    const written = await cli(['config', 'init'], folder);
    assert.equal(written.code, 0);
    assert.match((await cli(['config', 'check'], folder)).stdout, /is valid: 1 target \(unbounded\)/);
    assert.match((await cli(['targets'], folder)).stdout, /unbounded {2}python:mcp@1\.30\.0/);
    const again = await cli(['config', 'init'], folder);
    assert.equal(again.code, 2);
    assert.match(again.stderr, /is there already and stays as it is/);
    const { stdout } = await cli(['probe', 'python', '--path'], folder);
    assert.ok(readdirSync(stdout.trim()).includes('sitecustomize.py'));
  }));

/** Resolves once the recording shows sessions of the main load. */
async function underLoad(recording: string): Promise<void> {
  for (let i = 0; i < 600; i++) {
    try {
      if (readFileSync(recording, 'utf8').includes('"load:5"')) return;
    } catch {
      // Not there yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail('the load did not begin');
}
