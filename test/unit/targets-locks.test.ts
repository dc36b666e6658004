import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { PYTHON_LOCKS } from '../../src/targets/paths.ts';

const VERSIONS = ['1.29.1', '1.30.0', '2.1.1', '2.2.0'];
const PACKAGE_UNDER_TEST = ['mcp', 'mcp-types'];

/** Requirement lines by package, without hashes. */
function locked(version: string): Map<string, string> {
  const text = readFileSync(path.join(PYTHON_LOCKS, `mcp-${version}.txt`), 'utf8');
  const lines = text.split('\n').filter((line) => /^[a-z]/.test(line));
  const packages = new Map<string, string>();
  for (const line of lines) {
    const name = line.split('==')[0] ?? '';
    if (!PACKAGE_UNDER_TEST.includes(name)) packages.set(name, `${packages.get(name) ?? ''}${line}\n`);
  }
  return packages;
}

test('the affected and the patched build of a line differ in the package under test alone', () => {
  assert.deepEqual(locked('1.29.1'), locked('1.30.0'));
  assert.deepEqual(locked('2.1.1'), locked('2.2.0'));
});

test('what both lines need is the same', () => {
  const [first, second] = [locked('1.30.0'), locked('2.2.0')];
  const common = [...first.keys()].filter((name) => second.has(name));
  assert.ok(common.includes('starlette') && common.includes('uvicorn') && common.includes('anyio'));
  for (const name of common) assert.equal(first.get(name), second.get(name));
});

test('every pinned package has hashes, and no lock file names an index or a path', () => {
  for (const name of [...VERSIONS.map((version) => `mcp-${version}`), 'uv']) {
    const text = readFileSync(path.join(PYTHON_LOCKS, `${name}.txt`), 'utf8');
    for (const requirement of text.split(/\n(?=[a-z])/))
      assert.match(requirement, /^[^\n]+==[^]*--hash=sha256:/);
    assert.doesNotMatch(text, /:\/\/|--index|#|\/[a-z]/);
  }
});
