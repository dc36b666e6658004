/** sweep over real versions: where they differ, what a bisecting one measures, and its exit codes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Report } from '../../src/verdict/schema.ts';
import { cli, inFolder, oneSentence } from '../support/cli.ts';

async function swept(folder: string, ...args: string[]): Promise<{ report: Report; stdout: string }> {
  const finished = await cli(['sweep', 'python:mcp', ...args, '--sessions', '8', '--out', 'out'], folder);
  assert.equal(finished.code, 0, finished.stderr);
  const report = JSON.parse(readFileSync(join(folder, 'out', 'report.json'), 'utf8')) as Report;
  return { report, stdout: finished.stdout };
}

const spansOf = ({ timeline }: Report, claim: string): string[] =>
  (timeline?.claims.find(({ id }) => id === claim)?.spans ?? []).map(
    ({ from, to, status }) => `${status} ${from}..${to}`,
  );

test('every version: what is kept until 1.29.1 is not from 1.30.0 on, and the timeline says so', () =>
  inFolder(async (folder) => {
    const { report, stdout } = await swept(folder, '--versions', '1.29.1..1.30.0', '--case', 'delete');
    assert.deepEqual(report.timeline?.versions, [
      { version: '1.29.1', state: 'measured', reason: '' },
      { version: '1.30.0', state: 'measured', reason: '' },
    ]);
    const changed = ['fail 1.29.1..1.29.1', 'pass 1.30.0..1.30.0'];
    assert.deepEqual(spansOf(report, 'delete.deregisters'), changed);
    assert.deepEqual(spansOf(report, 'delete.accepted'), ['pass 1.29.1..1.30.0']);
    assert.match(stdout, /delete\.deregisters .*\n {4}✗✓\n {4}✗ 1\.29\.1 {2}✓ 1\.30\.0\n/);
    assert.match(stdout, /does not judge/);
    const again = await cli(['report', join('out', 'recording.ndjson')], folder);
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /✗ 1\.29\.1 {2}✓ 1\.30\.0/);
  }));

test('bisecting: the ends of the line, and nothing more where nothing lies between', () =>
  inFolder(async (folder) => {
    const args = ['--versions', '1.29.1..1.30.0', '--bisect', '--case', 'reject'];
    const { report } = await swept(folder, ...args);
    assert.equal(report.timeline?.mode, 'bisect');
    assert.deepEqual(spansOf(report, 'reject.registers-nothing'), [
      'fail 1.29.1..1.29.1',
      'pass 1.30.0..1.30.0',
    ]);
  }));

test('stateless: until 1.11.0 each request leaves a session behind, and from 1.12.0 on none does', () =>
  inFolder(async (folder) => {
    const args = ['--versions', '1.11.0..1.12.0', '--stateless', '--case', 'delete', '--case', 'abandon'];
    const { report, stdout } = await swept(folder, ...args);
    const changed = ['fail 1.11.0..1.11.0', 'pass 1.12.0..1.12.0'];
    assert.deepEqual(spansOf(report, 'delete.deregisters'), changed);
    assert.deepEqual(spansOf(report, 'abandon.bounded'), changed);
    assert.deepEqual(spansOf(report, 'delete.accepted'), ['unasked 1.11.0..1.12.0']);
    const kept = report.builds.map(
      (build) => build.cases.find(({ id }) => id === 'delete')?.sessions?.registered,
    );
    assert.ok((kept[0] ?? 0) >= 3 * 8, 'initialize, initialized and call of each session');
    assert.equal(kept[1], 0);
    assert.match(stdout, /1\.11\.0–1\.12\.0, stateless: 2 versions/);
  }));

test('wrong commands are one sentence', () =>
  inFolder(async (folder) => {
    const wrong: [string[], RegExp][] = [
      [['python:fastmcp', '--versions', '1.0.0..2.0.0'], /sweep knows no package python:fastmcp/],
      [['python:mcp', '--versions', '1.8.0'], /write the oldest and the newest version/],
      [['python:mcp', '--versions', '2.0.0..1.8.0'], /write the older version first/],
      [['python:mcp', '--versions', '1.0.0..1.8.0'], /has no Streamable HTTP: write 1\.8\.0 or newer/],
      [['python:mcp'], /required option '--versions <range>'/],
    ];
    for (const [args, sentence] of wrong) oneSentence(await cli(['sweep', ...args], folder), 2, sentence);
  }));
