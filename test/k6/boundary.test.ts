/** What k6 loads has nothing in it that k6 cannot load: the rules and the lint that say so are seen to fire. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['src/cases', 'src/protocol', 'src/metrics', 'loadtests'];

/** A copy of what the rules look at, so that bad files are put into no checkout. */
let copy = '';

before(() => {
  copy = mkdtempSync(join(tmpdir(), 'mcpr-boundary-'));
  for (const name of ['src', 'loadtests', 'tsconfig.json', 'package.json', '.dependency-cruiser.cjs'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
});

after(() => rmSync(copy, { recursive: true, force: true }));

interface Violation {
  readonly rule: { readonly name: string };
  readonly from: string;
}

/** The rules that each of these files breaks, when they stand in the tree together. */
function broken(files: Readonly<Record<string, string>>): Map<string, string[]> {
  const paths = Object.keys(files);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(copy, path), text);
  try {
    const depcruise = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
    const options = ['--config', '.dependency-cruiser.cjs', '--preserve-symlinks', '--output-type', 'json'];
    const { stdout, stderr } = spawnSync(process.execPath, [depcruise, ...options, ...FOLDERS], {
      cwd: copy,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    assert.notEqual(stdout, '', stderr);
    const { summary } = JSON.parse(stdout) as { summary: { violations: Violation[] } };
    const ofFile = (path: string): string[] =>
      summary.violations.filter(({ from }) => from === path).map(({ rule }) => rule.name);
    return new Map(paths.map((path) => [path, ofFile(path)]));
  } finally {
    for (const path of paths) rmSync(join(copy, path));
  }
}

const BAD = [
  "import { readFileSync } from 'node:fs';\nexport const bad = readFileSync;\n",
  "import { basename } from 'path';\nexport const bad = basename;\n",
  "import { parse } from 'yaml';\nexport const bad = parse;\n",
  "import type { Pool } from 'undici';\nexport type Bad = Pool;\n",
  "export { nothing } from 'not-there-at-all';\n",
];

test('what k6 loads takes neither built-ins nor packages', () => {
  const files = FOLDERS.flatMap((folder) => BAD.map((text, i) => [`${folder}/bad-${i}.ts`, text] as const));
  for (const [path, rules] of broken(Object.fromEntries(files)))
    assert.ok(rules.includes('runs-in-k6'), path);
});

const reach = (from: string): string => `import * as all from '${from}';\nexport const bad = all;\n`;

test('modules of k6 are for loadtests alone, which take of src what k6 can load', () => {
  const files = {
    'loadtests/lib/bad-0.ts': reach('k6/http'),
    'src/cases/bad-0.ts': reach('k6/http'),
    'loadtests/bad-1.ts': reach('../src/ledger/ledger.ts'),
    'loadtests/bad-2.ts': reach('../src/client/http.ts'),
    'loadtests/bad-3.ts': reach('../src/verdict/verdict.ts'),
    'loadtests/bad-4.ts': reach('../src/verdict/schema.ts'),
    'loadtests/bad-5.ts':
      "import type { Report } from '../src/verdict/schema.ts';\nexport type Bad = Report;\n",
  };
  const rules = broken(files);
  const names = (path: keyof typeof files): string[] => rules.get(path) ?? [];
  assert.deepEqual([names('loadtests/lib/bad-0.ts'), names('loadtests/bad-5.ts')], [[], []]);
  assert.ok(names('src/cases/bad-0.ts').includes('k6-in-loadtests-only'));
  for (const path of ['loadtests/bad-1.ts', 'loadtests/bad-2.ts', 'loadtests/bad-3.ts'] as const)
    assert.ok(names(path).includes('loadtests-boundary'), path);
  assert.ok(names('loadtests/bad-4.ts').includes('loadtests-schema-types-only'));
});

test('the lint forbids the three constructs that hang k6', async () => {
  const eslint = new ESLint({ cwd: ROOT });
  const bad: [string, RegExp][] = [
    ['declare function mark(value: unknown): void;\n@mark\nexport class Bad {}\n', /decorators/],
    ['export function bad(open: () => Disposable): void {\n  using it = open();\n  void it;\n}\n', /using/],
    [
      'export async function bad(all: AsyncIterable<number>): Promise<void> {\n  for await (const one of all) void one;\n}\n',
      /for await/,
    ],
  ];
  // An existing file's name, because only what stands in a tsconfig is parsed.
  const files = ['src/cases/pick.ts', 'src/protocol/sse.ts', 'src/metrics/metric.ts', 'loadtests/delete.ts'];
  for (const file of files) {
    const filePath = join(ROOT, file);
    const messages = async (text: string): Promise<string> =>
      (await eslint.lintText(text, { filePath }))
        .flatMap((one) => one.messages.map(({ message }) => message))
        .join('\n');
    for (const [text, says] of bad) assert.match(await messages(text), says, file);
    assert.doesNotMatch(await messages(readFileSync(filePath, 'utf8')), /k6 hangs/);
  }
});

test('loadtests type-check with k6’s types alone', () => {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const check = (): string =>
    spawnSync(process.execPath, [tsc, '-p', 'loadtests/tsconfig.json'], { cwd: copy, encoding: 'utf8' })
      .stdout;
  assert.equal(check(), '');
  writeFileSync(join(copy, 'loadtests/bad.ts'), 'export const bad = process.env;\n');
  assert.match(check(), /'process'/);
});
