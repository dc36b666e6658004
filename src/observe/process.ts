/**
 * What the kernel says of a server's process: memory, descriptors, children. Linux: /proc. macOS: memory by ps.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import {
  memoryLimitFiles,
  parseChildren,
  parseLimit,
  parseMemTotal,
  parseResidentBytes,
  parseStat,
  type ProcessStat,
} from './procfs.ts';

/** A process and all its living descendants, read together; null where the system does not tell. */
export interface ProcessReading {
  /** Resident memory, summed. Pages that processes share are counted in each. */
  readonly rssBytes: number;
  /** Open descriptors, summed; null where they belong to another user. */
  readonly fds: number | null;
  /** Living descendants, the process itself not counted. */
  readonly children: number | null;
  /** The smallest limit of its cgroups and the machine's memory. */
  readonly limitBytes: number | null;
  /** Start time of the process in clock ticks since boot: another value means that the number was reused. */
  readonly startTicks: number | null;
}

/** Reads a process with its descendants. Null: no such living process, or its memory cannot be read. */
export function readProcess(pid: number): ProcessReading | null {
  return process.platform === 'linux' ? readLinux(pid) : readByPs(pid);
}

/**
 * One process alone, for servers whose workers are each observed: its descendants are only counted, and the limit is
 * that of its cgroups, null where there is none. Null: no such living process, or its memory cannot be read.
 */
export function readProcessAlone(pid: number): ProcessReading | null {
  if (process.platform !== 'linux') return readByPs(pid);
  const status = read(`/proc/${pid}/status`) ?? '';
  const stat = parseStat(read(`/proc/${pid}/stat`) ?? '');
  const rssBytes = parseResidentBytes(status);
  // /proc also answers for the number of a thread of some other process.
  if (stat === null || !stat.living || rssBytes === null || !isLeader(status, pid)) return null;
  return {
    rssBytes,
    fds: countEntries(`/proc/${pid}/fd`),
    children: descendants(pid).filter((child) => residentBytes(child) !== null).length,
    limitBytes: smallest(cgroupLimits(pid)),
    startTicks: stat.startTicks,
  };
}

const isLeader = (status: string, pid: number): boolean => new RegExp(`^Tgid:\\s+${pid}$`, 'm').test(status);

function readLinux(pid: number): ProcessReading | null {
  const stat = parseStat(read(`/proc/${pid}/stat`) ?? '');
  const own = residentBytes(pid);
  if (stat === null || !stat.living || own === null) return null;
  // A descendant that ends while we read counts as ended: no memory, no descriptors.
  const children = descendants(pid)
    .map((child) => ({ rss: residentBytes(child), fds: countEntries(`/proc/${child}/fd`) }))
    .filter((child) => child.rss !== null);
  const fds = countEntries(`/proc/${pid}/fd`);
  return {
    rssBytes: children.reduce((sum, child) => sum + (child.rss ?? 0), own),
    fds: fds === null ? null : children.reduce((sum, child) => sum + (child.fds ?? 0), fds),
    children: children.length,
    limitBytes: memoryLimit(pid),
    startTicks: stat.startTicks,
  };
}

/** Zombies have no VmRSS line, so they never count. */
function residentBytes(pid: number): number | null {
  return parseResidentBytes(read(`/proc/${pid}/status`) ?? '');
}

function descendants(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendants(child)]);
}

function childrenOf(pid: number): number[] {
  const texts = (list(`/proc/${pid}/task`) ?? []).map((thread) =>
    read(`/proc/${pid}/task/${thread}/children`),
  );
  if (texts.some((text) => text !== null)) return texts.flatMap((text) => parseChildren(text ?? ''));
  // A kernel without these files: look at every process instead.
  return allProcesses()
    .filter((stat) => stat.parent === pid)
    .map((stat) => stat.pid);
}

/** Every process of this machine that /proc shows, zombies included; empty where there is no /proc. */
export function allProcesses(): ProcessStat[] {
  return (list('/proc') ?? [])
    .filter((name) => /^\d+$/.test(name))
    .map((name) => parseStat(read(`/proc/${name}/stat`) ?? ''))
    .filter((stat) => stat !== null);
}

function memoryLimit(pid: number): number | null {
  return smallest([parseMemTotal(read('/proc/meminfo') ?? ''), ...cgroupLimits(pid)]);
}

function cgroupLimits(pid: number): (number | null)[] {
  const groups = read(`/proc/${pid}/cgroup`) ?? '';
  // A group outside of our cgroup namespace: what lies at that path here is another's limit.
  if (groups.includes(':/..')) return [];
  return memoryLimitFiles(groups).map((file) => parseLimit(read(file) ?? ''));
}

function smallest(limits: readonly (number | null)[]): number | null {
  const known = limits.filter((limit) => limit !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function readByPs(pid: number): ProcessReading | null {
  try {
    const output = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
    return parsePs(output);
  } catch {
    return null; // ps ends with 1 where there is no such process
  }
}

/** Output of `ps -o rss=`: KiB. */
export function parsePs(output: string): ProcessReading | null {
  const kib = /^\s*(\d+)\s*$/.exec(output)?.[1];
  if (kib === undefined) return null;
  return { rssBytes: Number(kib) * 1024, fds: null, children: null, limitBytes: null, startTicks: null };
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // gone, or another user's
  }
}

function list(directory: string): string[] | null {
  try {
    return readdirSync(directory);
  } catch {
    return null;
  }
}

const countEntries = (directory: string): number | null => list(directory)?.length ?? null;

/** Clock ticks a second in /proc: a constant of the kernel's interface on every common architecture. */
const TICKS_PER_SECOND = 100;

/** When a living process of ours to see started, in ms since the epoch. Null: there is none, or no /proc. */
export function startedAt(pid: number): number | null {
  const stat = parseStat(read(`/proc/${pid}/stat`) ?? '');
  const uptime = Number.parseFloat(read('/proc/uptime') ?? '');
  if (stat === null || !stat.living || Number.isNaN(uptime)) return null;
  if (!isLeader(read(`/proc/${pid}/status`) ?? '', pid)) return null;
  return Date.now() - uptime * 1000 + (stat.startTicks * 1000) / TICKS_PER_SECOND;
}

/** Whose process it is; null where there is none, or no /proc. */
export function ownerOf(pid: number): number | null {
  const uid = /^Uid:\s+\d+\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return uid === undefined ? null : Number(uid);
}
