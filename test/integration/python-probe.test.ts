/** The probe's own tests, inside each of the four builds: its Python is theirs. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { BUILT_IN } from '../../src/cli/measure.ts';
import { installEnvironment } from '../../src/targets/environment.ts';
import { TOOL } from '../../src/version.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const VERSIONS = BUILT_IN.map((name) => name.replace('python:mcp@', ''));

describe('the probe in every built-in build', { concurrency: 2 }, () => {
  for (const version of VERSIONS)
    test(`mcp ${version}`, async () => {
      const signal = new AbortController().signal;
      const { python } = await installEnvironment(version, { what: version, signal, log: () => undefined });
      const args = ['-m', 'unittest', 'discover', '-s', 'probes/python/tests'];
      const env = { ...process.env, PYTHONPATH: '', PYTHONDONTWRITEBYTECODE: '1' };
      const child = spawn(python, args, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'pipe'] });
      let output = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
      const [code] = (await once(child, 'close')) as [number | null];
      assert.equal(code, 0, output);
      assert.ok(Number(/^Ran (\d+) tests/m.exec(output)?.[1]) > 50, output);
    });
});

test('the probe carries the version of the package, and the name that build labels begin with', () => {
  const source = readFileSync(
    new URL('probes/python/mcp_retention_probe/__init__.py', `file://${ROOT}`),
    'utf8',
  );
  assert.equal(/VERSION = ["'](.+)["']/.exec(source)?.[1], TOOL.version);
  assert.equal(/NAME = ["'](.+)["']/.exec(source)?.[1], 'python');
});
