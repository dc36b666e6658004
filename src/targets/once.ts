/**
 * Directories of the cache that are built once: by one process at a time, whole or not at all.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { interrupted } from './target.ts';

/** The last file written into a built directory. A directory without it was cut short and is built anew. */
const MARKER = '.complete';
const RETRY_MS = 500;
/** A lock that has not been touched this long was left by a process that is gone. */
const STALE_MS = 10_000;

export interface OnceOptions<T> {
  readonly directory: string;
  /** Makes the directory and fills it. What it returns is kept, as JSON, in the marker. */
  readonly build: () => Promise<T>;
  /** Reads a marker; null: not one of ours, or what it tells of is gone. Then the directory is built anew. */
  readonly accept: (marker: unknown) => T | null;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** What the directory's marker holds, after building the directory where needed. */
export async function builtOnce<T>(options: OnceOptions<T>): Promise<T> {
  const ready = await readBuilt(options);
  if (ready !== null) return ready;
  await mkdir(path.dirname(options.directory), { recursive: true, mode: 0o700 });
  const release = await acquire(options);
  try {
    // Another process may have built it while we waited.
    const built = await readBuilt(options);
    if (built !== null) return built;
    // Environments know their own path and cannot be moved, so it is built in place.
    await rm(options.directory, { recursive: true, force: true });
    const facts = await options.build();
    const marker = path.join(options.directory, MARKER);
    await writeFile(`${marker}.new`, JSON.stringify(facts, null, 2));
    await rename(`${marker}.new`, marker);
    return facts;
  } finally {
    await release();
  }
}

/** Has a directory that turned out to be of no use built anew the next time. */
export const spoil = (directory: string): Promise<void> => rm(path.join(directory, MARKER), { force: true });

/** What the directory's marker holds; null where it is not built, or not to be used. */
export async function readBuilt<T>({
  directory,
  accept,
}: Pick<OnceOptions<T>, 'directory' | 'accept'>): Promise<T | null> {
  try {
    return accept(JSON.parse(await readFile(path.join(directory, MARKER), 'utf8')));
  } catch {
    return null;
  }
}

async function acquire({ directory, signal, log }: OnceOptions<unknown>): Promise<() => Promise<void>> {
  // It listens to signals from the moment it is loaded: a program that builds nothing keeps its own handling.
  const { default: lockfile } = await import('proper-lockfile');
  for (let tries = 0; ; tries++) {
    if (signal.aborted) throw interrupted('The installation');
    try {
      const release = await lockfile.lock(directory, {
        realpath: false,
        stale: STALE_MS,
        // The machine slept, or the cache was cleared under us: the build itself will tell.
        onCompromised: (error) => log(`The lock of ${directory} was lost: ${error.message}`),
      });
      // A lock that was lost cannot be released, and need not be.
      return () => release().catch(() => undefined);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ELOCKED')) throw error;
      if (tries === 0) log(`Another process is building ${directory}: waiting for it.`);
      await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
