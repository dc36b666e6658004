/** The kernel's text about this process, as the probe's contract passes it on. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { memoryLimitFiles } from '../observe/procfs.ts';
import { PROCESS_SCHEMA, type ProcessMessage } from '../observe/snapshot.ts';

const FILES = ['/proc/self/stat', '/proc/self/statm', '/proc/self/status', '/proc/self/cgroup'];
const DESCRIPTORS = '/proc/self/fd';

const textOf = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);

export async function processMessage(): Promise<ProcessMessage> {
  const cgroup = (await textOf('/proc/self/cgroup')) ?? '';
  const group = /^0::(.*)$/m.exec(cgroup)?.[1] ?? '/';
  // A group above may limit it as well.
  const limits = [join('/sys/fs/cgroup', group, 'memory.current'), ...memoryLimitFiles(cgroup)];
  const files = await Promise.all(
    [...FILES, ...limits].map(async (path) => [path, await textOf(path)] as const),
  );
  const descriptors = await readdir(DESCRIPTORS).catch(() => null);
  return {
    schema: PROCESS_SCHEMA,
    pid: process.pid,
    takenAt: Date.now() / 1000,
    files: Object.fromEntries(files),
    entries: { [DESCRIPTORS]: descriptors === null ? null : descriptors.length },
  };
}
