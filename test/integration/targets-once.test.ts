import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import { builtOnce, readBuilt } from '../../src/targets/once.ts';
import { fixture } from '../fixtures/programs/paths.ts';

const root = mkdtempSync(path.join(os.tmpdir(), 'mcp-retention-once-'));
test.after(() => rmSync(root, { recursive: true }));

const accept = (marker: unknown): string | null => (typeof marker === 'string' ? marker : null);
const quiet = { accept, signal: new AbortController().signal, log: (): void => undefined };

test('several processes at once build a directory one time', async () => {
  const directory = path.join(root, 'shared');
  const begun = path.join(root, 'begun');
  const builders = [1, 2, 3].map(() =>
    execa(process.execPath, ['--import', 'tsx', fixture('builder.ts'), directory, begun]),
  );
  const markers = (await Promise.all(builders)).map(({ stdout }) => stdout);
  assert.equal(new Set(markers).size, 1);
  assert.equal(readFileSync(begun, 'utf8').trim(), markers[0]);
});

test('a directory that was cut short is removed and built anew', async () => {
  const directory = path.join(root, 'cut');
  mkdirSync(directory);
  writeFileSync(path.join(directory, 'half'), '');
  const build = (): Promise<string> => {
    assert.equal(existsSync(directory), false);
    mkdirSync(directory);
    return Promise.resolve('whole');
  };
  assert.equal(await builtOnce({ directory, build, ...quiet }), 'whole');
  assert.equal(await readBuilt({ directory, accept }), 'whole');
});

test('a build that fails leaves no marker and no lock', async () => {
  const directory = path.join(root, 'failing');
  const fails = (): Promise<string> => {
    mkdirSync(directory);
    return Promise.reject(new Error('no network'));
  };
  await assert.rejects(builtOnce({ directory, build: fails, ...quiet }), /no network/);
  assert.equal(await readBuilt({ directory, accept }), null);
  const build = (): Promise<string> => {
    mkdirSync(directory);
    return Promise.resolve('second try');
  };
  assert.equal(await builtOnce({ directory, build, ...quiet }), 'second try');
});
