/**
 * Process groups and who is in them: signals, living members, the owner of a listening socket.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { allProcesses } from '../observe/process.ts';
import { parseListening, type ProcessStat } from '../observe/procfs.ts';

/** Sends a signal to every process of a group; a group that is gone is no error. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    // EPERM: macOS says so of a group that has only zombies left.
    if (!isCode(error, 'ESRCH') && !isCode(error, 'EPERM')) throw error;
  }
}

/** Does a process of this group live? Zombies do not count: some PID 1 never reap them. */
export function groupIsAlive(group: number): boolean {
  if (process.platform === 'linux') {
    return allProcesses().some((stat) => stat.group === group && stat.living);
  }
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * The process that owns the listening socket of a port, searched among the group and the descendants of
 * `started`: a launcher such as npx or uv run is not the server. Where several own it (workers that share it),
 * the one above the others. Null: none of them owns it. Where the system does not tell: `started`.
 */
export function listenerOf(port: number, started: number): number | null {
  const tables = ['tcp', 'tcp6'].map((table) => readOr(`/proc/${started}/net/${table}`, ''));
  if (tables.every((table) => table === '')) return started;
  const inodes = new Set(tables.flatMap((table) => parseListening(table, port)));
  const owners = family(allProcesses(), started).filter((stat) => ownsSocket(stat.pid, inodes));
  const top = owners.find((stat) => !owners.some((other) => other.pid === stat.parent));
  return top?.pid ?? null;
}

function family(stats: readonly ProcessStat[], started: number): ProcessStat[] {
  const found = new Set([started]);
  // Parents may come after children in the table, so go over it until nothing is added.
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const stat of stats) if (stat.group === started || found.has(stat.parent)) found.add(stat.pid);
  }
  return stats.filter((stat) => found.has(stat.pid) && stat.living);
}

function ownsSocket(pid: number, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return inodes.has(/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? '');
      } catch {
        return false; // closed in between
      }
    });
  } catch {
    return false; // ended in between, or another user's
  }
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
