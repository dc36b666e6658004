import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { privateDirectory } from '../../src/targets/private.ts';
import { TargetError } from '../../src/targets/target.ts';

const MODULE = new URL('../../src/targets/private.ts', import.meta.url).href;
const directory = mkdtempSync(path.join(os.tmpdir(), 'private-'));
test.after(() => rmSync(directory, { recursive: true }));

/** What another process prints that makes one here and then ends as told. */
function other(end: string): string {
  const script = `import { privateDirectory } from '${MODULE}';
    console.log(privateDirectory(${JSON.stringify(directory)}).path);
    ${end}`;
  const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '--eval', script];
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout.trim();
}

test('it is private, and gone after remove', () => {
  const made = privateDirectory(directory);
  assert.equal(statSync(made.path).mode & 0o777, 0o700);
  assert.equal(path.dirname(made.path), directory);
  made.remove();
  made.remove();
  assert.ok(!existsSync(made.path));
});

test('a folder too long for a socket is passed over for /tmp', () => {
  const long = path.join(directory, 'x'.repeat(100));
  mkdirSync(long);
  const made = privateDirectory(long);
  assert.equal(path.dirname(made.path), '/tmp');
  made.remove();
});

test('a folder that is not there is one sentence with the mend', () => {
  assert.throws(
    () => privateDirectory(path.join(directory, 'absent')),
    (error) =>
      error instanceof TargetError && /absent: it is not there.*TMPDIR.*--probe-dir/.test(error.message),
  );
});

test('a process that exits without removing it leaves none behind', () => {
  const left = other('process.exit(3);');
  assert.ok(left.startsWith(directory), left);
  assert.ok(!existsSync(left));
});

test('what a killed process left is swept by the next, what a living one has stays', () => {
  const left = other("process.kill(process.pid, 'SIGKILL');");
  assert.ok(existsSync(left), left);
  const own = privateDirectory(directory);
  const next = other('process.exit();');
  assert.ok(next.startsWith(directory));
  assert.ok(!existsSync(left));
  assert.ok(existsSync(own.path), 'of a living process');
  own.remove();
});
