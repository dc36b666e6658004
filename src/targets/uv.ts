/**
 * uv: found on PATH, or fetched once into the cache. It resolves what no lock file covers.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { indexSettingsForUv } from './index-settings.ts';
import { installError } from './install-errors.ts';
import type { Interpreter } from './interpreter.ts';
import { builtOnce, readBuilt } from './once.ts';
import { cacheDir, PYTHON_LOCKS } from './paths.ts';
import { run, type RunResult } from './run.ts';
import { TargetError } from './target.ts';
import { fileExists, installerVariables, pipEnvironment } from './venv.ts';

const UV_LOCK = path.join(PYTHON_LOCKS, 'uv.txt');
/** `pip compile --format pylock.toml` is not known before. */
const OLDEST_UV = [0, 7] as const;
const ASK_TIMEOUT_MS = 15_000;

export interface Installing {
  readonly python: Interpreter;
  /** What is installed, as the user wrote it: for messages. */
  readonly what: string;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** uv with the user's index settings. */
export interface Uv {
  /** Installs: what it writes goes to the log. */
  install(args: readonly string[]): Promise<RunResult>;
  /** Resolves requirements from stdin to stdout: only the result counts. */
  compile(args: readonly string[], requirements: string): Promise<RunResult>;
}

/** uv on PATH, or one fetched before, or null. */
export async function uvAtHand(installing: Installing): Promise<Uv | null> {
  if (await isOnPath()) return runner('uv', installing);
  const { version, directory, command } = fetchedUv();
  const fetched = await readBuilt({ directory, accept: () => (fileExists(command) ? version : null) });
  return fetched === null ? null : runner(command, installing);
}

async function isOnPath(): Promise<boolean> {
  const asked = await execa('uv', ['--version'], { reject: false, timeout: ASK_TIMEOUT_MS, stdin: 'ignore' });
  const [major = 0, minor = 0] =
    /^uv (\d+)\.(\d+)/
      .exec(asked.stdout ?? '')
      ?.slice(1)
      .map(Number) ?? [];
  const usable = major > OLDEST_UV[0] || (major === OLDEST_UV[0] && minor >= OLDEST_UV[1]);
  return !asked.failed && usable;
}

/**
 * uv at hand, else the pinned one: fetched by pip from the user's index, hashes checked, kept in the cache.
 * @throws TargetError when it cannot be fetched.
 */
export async function uvAnyway(installing: Installing): Promise<Uv> {
  const atHand = await uvAtHand(installing);
  if (atHand !== null) return atHand;
  const { version, directory, command } = fetchedUv();
  await builtOnce({
    directory,
    build: () => fetchUv(version, directory, installing),
    accept: () => (fileExists(command) ? version : null),
    signal: installing.signal,
    log: installing.log,
  });
  return runner(command, installing);
}

function fetchedUv(): { version: string; directory: string; command: string } {
  const version = /^uv==(\S+)/m.exec(readFileSync(UV_LOCK, 'utf8'))?.[1];
  if (version === undefined)
    throw new TargetError(`${UV_LOCK} names no version of uv: install this tool anew.`);
  const directory = path.join(cacheDir(), 'tools', `uv-${version}`);
  return { version, directory, command: path.join(directory, 'bin', 'uv') };
}

async function fetchUv(version: string, directory: string, installing: Installing): Promise<string> {
  const { python, what, signal, log } = installing;
  log(`uv is not on PATH: fetching uv ${version} into the cache.`);
  const result = await pipEnvironment(python.path, directory, UV_LOCK, { signal, log });
  if (!result.ok) throw installError(`uv, which ${what} needs,`, result.output);
  return version;
}

async function runner(command: string, { python, signal, log }: Installing): Promise<Uv> {
  const base = installerVariables();
  const env = {
    ...base,
    ...(await indexSettingsForUv(python.path, base)),
    // The interpreter is ours to choose, and output goes to a log.
    UV_PYTHON_DOWNLOADS: 'never',
    UV_NO_PROGRESS: '1',
    NO_COLOR: '1',
  };
  // In the cache directory no project's own settings apply.
  const options = { env, cwd: cacheDir(), signal };
  return {
    install: (args) => run(command, args, { ...options, log }),
    compile: (args, input) =>
      run(
        command,
        ['pip', 'compile', '-', '--quiet', '--no-header', '--no-annotate', '--python', python.path, ...args],
        {
          ...options,
          input,
          log: () => undefined,
        },
      ),
  };
}

/** Requirements of one mcp version as of its release. */
export interface Resolution {
  /** Text of a requirements file. */
  readonly requirements: string;
  /** The last day that was looked at, ISO 8601; null: the index gives no dates, so it is as of today. */
  readonly asOf: string | null;
}

/** The newest mcp that the index offers to this Python. @throws TargetError */
export async function latestVersion(uv: Uv, { what }: Installing): Promise<string> {
  const result = await uv.compile(['--no-deps'], 'mcp\n');
  const version = /^mcp==([^\s;]+)/m.exec(result.stdout)?.[1];
  if (!result.ok || version === undefined) throw installError(what, result.output);
  return version;
}

/**
 * What mcp at that version and uvicorn resolved to when it was new: packages uploaded up to a day after.
 * @throws TargetError
 */
export async function resolveAsOfRelease(
  uv: Uv,
  version: string,
  installing: Installing,
): Promise<Resolution> {
  const alone = await uv.compile(['--no-deps', '--format', 'pylock.toml'], `mcp==${version}\n`);
  if (!alone.ok) throw installError(installing.what, alone.output);
  const asOf = dayAfterUpload(alone.stdout);
  // Wheels only: an old source package may want a compiler, and to run its build is more than was asked for.
  const all = await uv.compile(
    [
      ...['--generate-hashes', '--only-binary', ':all:'],
      ...(asOf === null ? [] : ['--exclude-newer', `${asOf}T23:59:59Z`]),
    ],
    `mcp==${version}\nuvicorn\n`,
  );
  if (!all.ok) throw installError(installing.what, all.output);
  return { requirements: all.stdout, asOf };
}

/** The day after the first upload in a pylock.toml (PEP 751), in UTC: `2025-07-18`. Null without upload times. */
export function dayAfterUpload(pylock: string): string | null {
  const times = [...pylock.matchAll(/upload-time = "?(\d{4}-\d{2}-\d{2}T[\d:.]+Z)/g)].map((found) =>
    Date.parse(found[1] ?? ''),
  );
  if (times.length === 0 || times.some(Number.isNaN)) return null;
  const DAY_MS = 86_400_000;
  return new Date(Math.min(...times) + DAY_MS).toISOString().slice(0, 10);
}
