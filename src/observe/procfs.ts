/**
 * The kernel's texts under /proc and /sys/fs/cgroup, parsed. Pure: formats as in proc(5) and cgroups(7).
 */

export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Start time in clock ticks since boot: tells a process from a later one with its number. */
  readonly startTicks: number;
  /** Neither a zombie nor dead. */
  readonly living: boolean;
}

/** /proc/PID/stat. Null where the text is not one. */
export function parseStat(text: string): ProcessStat | null {
  // The name in parentheses may hold anything, parentheses and spaces too: fields count from the last one.
  const nameEnd = text.lastIndexOf(')');
  const pid = Number.parseInt(text, 10);
  if (nameEnd < 0 || !Number.isSafeInteger(pid)) return null;
  const fields = text
    .slice(nameEnd + 2)
    .trimEnd()
    .split(' ');
  const [state = '', parent, group] = fields;
  const startTicks = fields[19];
  if (parent === undefined || group === undefined || startTicks === undefined) return null;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    startTicks: Number(startTicks),
    living: !['Z', 'X', 'x'].includes(state),
  };
}

/** Resident set size in bytes from /proc/PID/status (VmRSS); null for a process without memory of its own. */
export function parseResidentBytes(status: string): number | null {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

/** Process ids from /proc/PID/task/TID/children. */
export function parseChildren(text: string): number[] {
  return text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map(Number);
}

/** Files under /sys/fs/cgroup that may limit memory, the innermost group first, from /proc/PID/cgroup. */
export function memoryLimitFiles(cgroup: string): string[] {
  const files: string[] = [];
  for (const line of cgroup.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const memory = controllers.split(',').includes('memory');
    // Version 2 has one hierarchy without controllers' names; version 1 one mount per controller.
    if (controllers === '') files.push(...upwards(path, '/sys/fs/cgroup', 'memory.max'));
    else if (memory) files.push(...upwards(path, '/sys/fs/cgroup/memory', 'memory.limit_in_bytes'));
  }
  return files;
}

/** A limit file of every group from the innermost to the root: each limits those below it. */
function upwards(path: string, mount: string, file: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '..');
  return Array.from({ length: parts.length + 1 }, (_, up) =>
    [mount, ...parts.slice(0, parts.length - up), file].join('/'),
  );
}

/** Version 1 writes no limit as a huge number of pages. */
const NO_LIMIT_FROM = 2 ** 60;

/** memory.max or memory.limit_in_bytes; null for no limit. */
export function parseLimit(text: string): number | null {
  const word = text.trim();
  if (!/^\d+$/.test(word)) return null;
  const bytes = Number(word);
  return bytes < NO_LIMIT_FROM ? bytes : null;
}

/** MemTotal of /proc/meminfo in bytes. */
export function parseMemTotal(meminfo: string): number | null {
  const kib = /^MemTotal:\s+(\d+) kB$/m.exec(meminfo)?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

/** Socket inodes that listen on a port, from /proc/net/tcp or tcp6. */
export function parseListening(table: string, port: number): string[] {
  const LISTEN = '0A';
  return table.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const localPort = Number.parseInt(fields[1]?.split(':')[1] ?? '', 16);
    const inode = fields[9];
    return fields[3] === LISTEN && localPort === port && inode !== undefined ? [inode] : [];
  });
}
