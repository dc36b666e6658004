/** The package as `npm pack` makes it, installed into an empty folder. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

export const ROOT = new URL('../../', import.meta.url).pathname;
const NOT_SOURCE = new Set(['node_modules', 'dist', '.git', '.mcp-retention', '__pycache__']);

export interface Packed {
  /** Files in the package, below its folder. */
  readonly files: readonly string[];
  /** A folder with nothing but the package installed. */
  readonly folder: string;
  /** Runs a program in it, or in a folder below; stdin is closed. */
  run(command: string, args: readonly string[], options?: RunOptions): Promise<Ran>;
  remove(): void;
}

export interface RunOptions {
  readonly below?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface Ran {
  readonly code: number;
  /** stdout and stderr. */
  readonly output: string;
}

const execute = promisify(execFile);

async function ran(command: string, args: readonly string[], cwd: string, env = process.env): Promise<Ran> {
  try {
    const { stdout, stderr } = await execute(command, args, {
      cwd,
      // The runner of the tests around this must not take part in those that are run here.
      env: { ...env, NODE_TEST_CONTEXT: undefined },
      maxBuffer: 2 ** 26,
    });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

/** @throws where the package cannot be built, packed or installed */
export async function packAndInstall(): Promise<Packed> {
  const around = mkdtempSync(join(tmpdir(), 'mcpr-packed-'));
  const folder = join(around, 'installed');
  try {
    // In a copy, because packing builds anew and others may be running what is built.
    const source = join(around, 'source');
    cpSync(ROOT, source, {
      recursive: true,
      filter: (path) => !NOT_SOURCE.has(basename(path)) || path.includes('/dashboards/dist'),
    });
    symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
    const packed = await ran('npm', ['pack', '--silent', '--json', '--pack-destination', around], source);
    assert.equal(packed.code, 0, packed.output);
    const [list] = JSON.parse(packed.output.slice(packed.output.indexOf('[\n'))) as [
      { filename: string; files: { path: string }[] },
    ];
    mkdirSync(folder);
    await install(folder, [join(around, list.filename)]);
    return {
      files: list.files.map(({ path }) => path).sort(),
      folder,
      // What a failed assertion keeps goes with the rest.
      run: (command, args, { below = '', env = process.env } = {}) =>
        ran(command, args, join(folder, below), { ...env, TMPDIR: around }),
      remove: () => rmSync(around, { recursive: true, force: true }),
    };
  } catch (error) {
    rmSync(around, { recursive: true, force: true });
    throw error;
  }
}

/** @param packages as npm install takes them */
export async function install(folder: string, packages: readonly string[]): Promise<void> {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  const { code, output } = await ran('npm', ['install', ...quiet, ...packages], folder);
  assert.equal(code, 0, output);
}

/** What an example says that it needs, but for this package: as npm install takes it. */
export function needsOf(example: string): string[] {
  const manifest = JSON.parse(
    readFileSync(join(ROOT, 'examples', example, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
  return Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
    .filter(([name]) => name !== 'mcp-retention')
    .map(([name, version]) => `${name}@${version}`);
}
