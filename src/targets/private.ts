/**
 * Private directories for probes' sockets: short enough for a socket's path, gone with the tool.
 */
import { lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { atLast } from '../cleanup.ts';
import { reasonOf } from '../errno.ts';
import { TargetError } from './target.ts';

/** A directory with mode 0700. */
export interface PrivateDirectory {
  readonly path: string;
  /** Removes it with what is in it. */
  remove(): void;
}

/** Bytes of the longest path that a Unix socket can be bound to, on the narrowest system (macOS). */
const LONGEST_SOCKET = 103;
/** A probe's socket is named after its process. */
const LONGEST_NAME = '/4194304.sock'.length;
const RANDOM = 'XXXXXX'.length;
const MEND = 'set TMPDIR to another folder, or name one in --probe-dir';

const swept = new Set<string>();

/**
 * In the system's folder for temporary files; where that is too long for a socket, in /tmp.
 * @throws TargetError
 */
export function privateDirectory(temporary: string = tmpdir()): PrivateDirectory {
  const prefix = `mcpr-${namespace()}-${process.pid}-`;
  const fits = [temporary, '/tmp'].find((base) => {
    const longest = path.join(path.resolve(base), prefix).length + RANDOM + LONGEST_NAME;
    return Buffer.byteLength(base) - base.length + longest <= LONGEST_SOCKET;
  });
  const base = path.resolve(fits ?? '/tmp');
  sweep(base);
  try {
    const made = mkdtempSync(path.join(base, prefix));
    const forget = atLast(() => rmSync(made, { recursive: true, force: true }));
    return {
      path: made,
      remove: () => {
        rmSync(made, { recursive: true, force: true });
        forget();
      },
    };
  } catch (error) {
    throw new TargetError(`No folder for the probe can be made in ${base}: ${reasonOf(error)}: ${MEND}.`);
  }
}

/** Process ids mean something within one namespace: containers may share a folder, but not their ids. */
function namespace(): string {
  try {
    return Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 0).toString(36);
  } catch {
    return '0';
  }
}

/** Removes what tools left behind that were killed. */
function sweep(base: string): void {
  if (swept.has(base)) return;
  swept.add(base);
  try {
    for (const name of readdirSync(base)) {
      const [, where, pid] = /^mcpr-([0-9a-z]+)-(\d+)-\w{6}$/.exec(name) ?? [];
      if (where === namespace() && !lives(Number(pid))) removeOwn(path.join(base, name));
    }
  } catch {
    // It cannot be listed: making a folder in it will tell why.
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function removeOwn(directory: string): void {
  try {
    if (lstatSync(directory).uid === process.getuid?.()) rmSync(directory, { recursive: true, force: true });
  } catch {
    // Somebody else removed it in between.
  }
}
