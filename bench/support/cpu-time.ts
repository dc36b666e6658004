/** CPU time of another process, from the kernel. */
import { readFileSync } from 'node:fs';

/** Clock ticks a second in /proc: a constant of the kernel's interface on every common architecture. */
const TICKS_PER_SECOND = 100;

/** Milliseconds that all threads of a process have run, in user and in kernel mode. Linux only. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Fields count from the last parenthesis: the name before it may hold anything. utime and stime are 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}
