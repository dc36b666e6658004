/**
 * One environment per build in the cache: from a lock file, or from what its dependencies were at its release.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eq } from '@renovatebot/pep440';
import { isSystemError, reasonOf } from '../errno.ts';
import { installError } from './install-errors.ts';
import { findPython } from './interpreter.ts';
import { builtOnce, spoil } from './once.ts';
import { cacheDir, PYTHON_LOCKS } from './paths.ts';
import { run, type RunResult } from './run.ts';
import { TargetError } from './target.ts';
import { latestVersion, resolveAsOfRelease, uvAnyway, uvAtHand, type Installing, type Uv } from './uv.ts';
import {
  askEnvironment,
  environmentFacts,
  fileExists,
  installerVariables,
  pipEnvironment,
  type EnvironmentFacts,
} from './venv.ts';

/** An installed build. */
export interface Environment extends EnvironmentFacts {
  /** Its Python. */
  readonly python: string;
  readonly directory: string;
}

/** Where what is installed stands beside its marker. */
const REQUIREMENTS = 'requirements.txt';

export interface InstallOptions {
  /** What is installed, as the user wrote it: for messages. */
  readonly what: string;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/**
 * Installs mcp and uvicorn, unless the cache has them.
 * @param version a PEP 440 version, or `latest`.
 * @throws TargetError in one sentence, with the mend.
 */
export async function installEnvironment(version: string, options: InstallOptions): Promise<Environment> {
  try {
    return await install(version, options);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new TargetError(
      `${options.what} cannot be installed because the cache ${cacheDir()} cannot be used: ${reasonOf(error)}: mend it, or name another folder in XDG_CACHE_HOME.`,
    );
  }
}

/**
 * Installs an environment anew that no longer loads what it holds: somebody cleared a part of the cache.
 * @returns null where it loads: then it is not at fault
 * @throws TargetError
 */
export async function repairedEnvironment(
  { python, directory, mcp }: Environment,
  options: InstallOptions,
): Promise<Environment | null> {
  const { signal } = options;
  const load = ['-I', '-c', 'import uvicorn, mcp.server.streamable_http_manager'];
  const loaded = await run(python, load, { signal, log: () => undefined, env: installerVariables() });
  if (loaded.ok) return null;
  options.log(`${directory} does not load any more: it is built anew.`);
  await spoil(directory);
  return installEnvironment(mcp, options);
}

async function install(version: string, options: InstallOptions): Promise<Environment> {
  const installing: Installing = { ...options, python: await findPython() };
  await mkdir(cacheDir(), { recursive: true, mode: 0o700 });
  const exact = version === 'latest' ? await latestVersion(await uvAnyway(installing), installing) : version;
  const lock = await lockOf(exact);
  const directory = path.join(cacheDir(), 'envs', directoryName(exact, lock, installing));
  const python = path.join(directory, 'bin', 'python');
  const facts = await builtOnce<EnvironmentFacts>({
    directory,
    build: () =>
      lock === null ? fromRelease(directory, exact, installing) : fromLock(directory, lock, installing),
    accept: (marker) => (fileExists(python) ? environmentFacts.parse(marker) : null),
    signal: options.signal,
    log: options.log,
  });
  return { ...facts, python, directory };
}

/** The text of the lock file for a version, or null. */
async function lockOf(version: string): Promise<string | null> {
  const files = await readdir(PYTHON_LOCKS);
  const file = files.find((name) => {
    const locked = /^mcp-(.+)\.txt$/.exec(name)?.[1];
    return locked !== undefined && eq(locked, version);
  });
  return file === undefined ? null : readFileSync(path.join(PYTHON_LOCKS, file), 'utf8');
}

/** Another lock, another Python or another machine's architecture is another environment. */
function directoryName(version: string, lock: string | null, { python }: Installing): string {
  const key = [lock ?? `as of release: ${version}`, python.version, process.platform, process.arch];
  const digest = createHash('sha256').update(key.join('\n')).digest('hex').slice(0, 12);
  return `mcp-${version}-py${python.version}-${digest}`;
}

async function fromLock(directory: string, lock: string, installing: Installing): Promise<EnvironmentFacts> {
  await fill(directory, lock, await uvAtHand(installing), installing);
  return facts(directory, installing);
}

async function fromRelease(
  directory: string,
  version: string,
  installing: Installing,
): Promise<EnvironmentFacts> {
  const uv = await uvAnyway(installing);
  const { requirements, asOf } = await resolveAsOfRelease(uv, version, installing);
  if (asOf === null) installing.log('The package index gives no upload times: dependencies are as of today.');
  await fill(directory, requirements, uv, installing);
  return { ...(await facts(directory, installing)), asOf };
}

const facts = (directory: string, { what, signal, log }: Installing): Promise<EnvironmentFacts> =>
  askEnvironment(path.join(directory, 'bin', 'python'), what, { signal, log });

async function fill(
  directory: string,
  requirements: string,
  uv: Uv | null,
  installing: Installing,
): Promise<void> {
  installing.log(`Installing ${installing.what} into the cache.`);
  // venv and uv want to make the directory themselves, so the requirements come into it afterwards.
  const file = `${directory}.txt`;
  await writeFile(file, requirements);
  const result =
    uv === null
      ? await pipEnvironment(installing.python.path, directory, file, installing)
      : await uvEnvironment(uv, directory, file, installing);
  if (!result.ok) throw installError(installing.what, result.output);
  await rename(file, path.join(directory, REQUIREMENTS));
}

async function uvEnvironment(
  uv: Uv,
  directory: string,
  file: string,
  { python }: Installing,
): Promise<RunResult> {
  const made = await uv.install(['venv', '--quiet', '--python', python.path, directory]);
  if (!made.ok) return made;
  const target = ['--python', path.join(directory, 'bin', 'python'), '--compile-bytecode'];
  return uv.install(['pip', 'install', ...target, '--require-hashes', '--requirement', file]);
}
