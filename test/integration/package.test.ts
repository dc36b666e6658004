/** The package by itself: what is in it, that it works where nothing else is installed, and the examples with it. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { after, before, describe, test } from 'node:test';
import ts from 'typescript';
import { installEnvironment } from '../../src/targets/environment.ts';
import { findPython } from '../../src/targets/interpreter.ts';
import { uvAnyway } from '../../src/targets/uv.ts';
import { TOOL } from '../../src/version.ts';
import { install, needsOf, packAndInstall, ROOT, type Packed } from '../support/packed.ts';
import { suspectsConfig } from '../support/measure.ts';

const EXPECTED = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
  /^docs\/[a-z0-9-]+\.md$/,
  /^schemas\/[a-z-]+\.v\d+\.json$/,
  /^dist\/(src|exporters|dashboards)\/.+\.js$/,
  /^dist\/src\/.+\.d\.ts$/,
  /^probes\/python\/(sitecustomize|mcp_retention_probe\/[a-z_]+)\.py$/,
  /^servers\/python\/[a-z]+\.py$/,
  /^servers\/python\/locks\/[a-z0-9.-]+\.txt$/,
];
/** Where programs begin; a worker is started by its path. */
const ENTRIES = ['dist/src/cli/main.js', 'dist/src/index.js', 'dist/src/cli/live-worker.js'];

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

describe('the package', () => {
  let packed: Packed;
  const at = (file: string): string => join(packed.folder, 'node_modules', TOOL.name, file);

  before(async () => {
    packed = await packAndInstall();
  });
  after(() => packed.remove());

  const passes = async (...[command, args, options]: Parameters<Packed['run']>): Promise<string> => {
    const { code, output } = await packed.run(command, args, options);
    assert.equal(code, 0, output);
    return output;
  };

  test('holds what is needed and nothing else', () => {
    for (const file of packed.files)
      assert.ok(
        EXPECTED.some((pattern) => pattern.test(file)),
        file,
      );
    for (const pattern of EXPECTED)
      assert.ok(
        packed.files.some((file) => pattern.test(file)),
        String(pattern),
      );
    const used = reachable(at).files;
    const unused = packed.files.filter((file) => file.endsWith('.js') && !used.has(file));
    assert.deepEqual(
      unused.filter((file) => !isEmpty(readFileSync(at(file), 'utf8'))),
      [],
    );
  });

  test('needs no package but its dependencies, and each of these', () => {
    assert.deepEqual([...reachable(at).packages].sort(), Object.keys(manifest.dependencies).sort());
  });

  test('documents what the README names', () => {
    const readme = readFileSync(at('README.md'), 'utf8');
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link]) => normalize(link ?? ''));
    assert.ok(links.length > 3);
    for (const link of links) {
      assert.ok(existsSync(join(ROOT, link)), link);
      if (link.startsWith('docs/')) assert.ok(packed.files.includes(link), link);
    }
  });

  test('works as a command line', async () => {
    writeFileSync(
      join(packed.folder, 'mcp-retention.yaml'),
      suspectsConfig({ clean: null, guilty: 'delete-keeps-entry' }),
    );
    const few = ['--case', 'delete', '--sessions', '20'];
    assert.equal((await passes('npx', ['mcp-retention', '--version'])).trim(), TOOL.version);
    assert.match(await passes('npx', ['mcp-retention', 'check', 'clean', ...few]), /passed/);
    const worse = await packed.run('npx', ['mcp-retention', 'compare', 'clean', 'guilty', ...few]);
    assert.equal(worse.code, 1, worse.output);
    assert.match(worse.output, /delete\.deregisters/);
    await passes('npx', ['mcp-retention', 'dashboards', '--out', 'made']);
    const probe = (await passes('npx', ['mcp-retention', 'probe', 'python', '--path'])).trim();
    assert.ok(existsSync(join(probe, 'sitecustomize.py')));
  });

  test('what cannot be loaded is no failed claim', async () => {
    const few = 'ulimit -n 32; exec node "$1" cases';
    const { code, output } = await packed.run('sh', ['-c', few, 'sh', at('dist/src/cli/main.js')]);
    assert.equal(code, 3, output);
    assert.match(output, /^error: this process has no file descriptors left \(EMFILE\): raise the limit/);
  });

  test('is a library with types, for strict programs and every way of resolving modules', async () => {
    cpSync(join(ROOT, 'test/fixtures/consumer'), packed.folder, { recursive: true });
    const blocks = readFileSync(at('docs/library.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms);
    const documented = [...blocks].map(([, code = ''], i) => {
      writeFileSync(join(packed.folder, `documented-${i}.mts`), code);
      return `documented-${i}.mts`;
    });
    assert.ok(documented.length > 3);
    // The compiler and the types of Node.js are those of this project.
    symlinkSync(join(ROOT, 'node_modules/@types'), join(packed.folder, 'node_modules/@types'));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    for (const [module, resolution] of [
      ['node16', 'node16'],
      ['esnext', 'bundler'],
    ] as const)
      await passes(tsc, [
        ...[...strict, '--skipLibCheck', 'false', '--target', 'es2022', '--types', 'node'],
        ...['--module', module, '--moduleResolution', resolution, 'consumer.mts', ...documented],
      ]);
    assert.equal((await passes('node', ['consumer.mjs'])).trim(), 'inconclusive');
    rmSync(join(packed.folder, 'node_modules/@types'));
  });

  describe('the examples', () => {
    before(async () => {
      cpSync(join(ROOT, 'examples'), join(packed.folder, 'examples'), { recursive: true });
      await install(packed.folder, [...new Set([...needsOf('node-test'), ...needsOf('vitest')])]);
    });

    test('node:test: the server passes, the leaky one fails readably, as its README shows', async () => {
      const below = 'examples/node-test';
      await passes('npm', ['test'], { below });
      const { code, output } = await packed.run('npm', ['run', 'leaky'], { below });
      assert.equal(code, 1, output);
      const readme = readFileSync(join(ROOT, below, 'README.md'), 'utf8');
      const fences = readme.matchAll(/^```(\w*)\n(.*?)^```$/gms);
      const shown = [...fences].find(([, language]) => language === '')?.[2] ?? '';
      assert.match(shown, /delete\.deregisters/);
      // Port and folder differ from run to run.
      for (const line of shown
        .split('\n')
        .filter((text) => text.trim() !== '' && !/127\.0\.0\.1|\/tmp\/|\dms/.test(text)))
        assert.ok(output.includes(line.trim()), `${line} is not in ${output}`);
    });

    test('vitest', async () => {
      await passes('npm', ['test'], { below: 'examples/vitest' });
    });

    test('pytest: passes with a patched SDK, fails readably with an affected one', async () => {
      const below = 'examples/pytest';
      const options = { what: 'the example', signal: new AbortController().signal, log: () => undefined };
      const tools = mkdtempSync(join(tmpdir(), 'mcpr-pytest-'));
      try {
        const uv = await uvAnyway({ ...options, python: await findPython() });
        const pytest =
          /^pytest==\S+/m.exec(readFileSync(join(ROOT, below, 'requirements.txt'), 'utf8'))?.[0] ?? '';
        for (const [version, expected, says] of [
          ['1.30.0', 0, /1 passed/],
          ['1.29.1', 1, /fail delete\.deregisters: DELETE ends the session and keeps 150 registry entries/],
        ] as const) {
          const { python } = await installEnvironment(version, options);
          const made = await uv.install(['pip', 'install', '--python', python, '--target', tools, pytest]);
          assert.ok(made.ok, made.output);
          const env = { ...process.env, PYTHONPATH: tools, PYTHONDONTWRITEBYTECODE: '1' };
          const { code, output } = await packed.run(python, ['-m', 'pytest', '-p', 'no:cacheprovider'], {
            below,
            env,
          });
          assert.equal(code, expected, output);
          assert.match(output, says);
        }
      } finally {
        rmSync(tools, { recursive: true, force: true });
      }
    });
  });
});

/** What is left of a file of types: its comments. */
const isEmpty = (program: string): boolean =>
  program.replace(/\/\*.*?\*\/|\/\/.*$/gms, '').trim() === 'export {};';

/** What the entries lead to, by every import that is written out. */
function reachable(at: (file: string) => string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const { fileName } of ts.preProcessFile(readFileSync(at(file), 'utf8')).importedFiles)
      if (fileName.startsWith('.')) visit(normalize(join(dirname(file), fileName)));
      else if (!fileName.startsWith('node:'))
        packages.add(/^(@[^/]+\/)?[^/]+/.exec(fileName)?.[0] ?? fileName);
  };
  ENTRIES.forEach(visit);
  return { files, packages };
}
