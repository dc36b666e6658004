/** What a collector brings back from one target, and within which time. */
import { NO_DESCRIPTORS, ProbeError } from '../src/observe/probe-client.ts';
import type { Worker } from './workers.ts';

export interface Failure {
  /** The worker's process id; `*` where it is not one worker's. */
  readonly worker: string;
  /** One sentence. */
  readonly reason: string;
}

export interface Collected<T> {
  readonly readings: readonly T[];
  readonly failures: readonly Failure[];
}

export interface Timed<T> extends Collected<T> {
  readonly seconds: number;
}

/** A worker's reading, or why there is none, or null for a leftover of one that has ended. */
export type Read<T> = T | Failure | null;

/** The workers' own deadline comes first: they have more to say of why there was no answer. */
const WORKERS_SHARE = 0.95;

/**
 * Runs a collector over the workers of a target, once they are found. It never throws. What is not there at the
 * deadline is a failure of that worker, and takes nothing along of what was read from others.
 * @param ask reads one worker within the milliseconds that are left
 */
export async function timed<T extends object>(
  deadlineMs: number,
  found: Promise<readonly Worker[]>,
  ask: (worker: Worker, leftMs: number) => Promise<Read<T>>,
): Promise<Timed<T>> {
  const began = performance.now();
  const until = began + deadlineMs * WORKERS_SHARE;
  const reads = new Map<Worker, Read<T> | 'pending'>();
  const late = `Nothing was collected within ${Math.round(deadlineMs)} ms.`;
  const all = async (): Promise<Failure | null> => {
    const workers = await found;
    for (const worker of workers) reads.set(worker, 'pending');
    const readOne = async (worker: Worker): Promise<void> => {
      const leftMs = Math.max(1, Math.round(until - performance.now()));
      const read = await ask(worker, leftMs).catch((error: unknown) => failed(worker.probe.worker, error));
      reads.set(worker, read);
    };
    await Promise.all(workers.map(readOne));
    return null;
  };
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<Failure | null>((resolve) => {
    timer = setTimeout(() => resolve(reads.size === 0 ? { worker: '*', reason: late } : null), deadlineMs);
  });
  const whole = await Promise.race([all().catch((error: unknown) => failed('*', error)), deadline]);
  clearTimeout(timer);
  const ofWorkers = [...reads].map(([worker, read]) =>
    read === 'pending' ? { worker: worker.probe.worker, reason: late } : read,
  );
  return { ...sorted([whole, ...ofWorkers]), seconds: (performance.now() - began) / 1000 };
}

function sorted<T extends object>(reads: readonly Read<T>[]): Collected<T> {
  const readings: T[] = [];
  const failures: Failure[] = [];
  for (const read of reads) {
    if (read === null) continue;
    if (isFailure(read)) failures.push(read);
    else readings.push(read);
  }
  // Which workers it hits differs each time, and says nothing of them.
  const ours = failures.find(({ reason }) => reason === NO_DESCRIPTORS);
  return ours === undefined
    ? { readings, failures }
    : {
        readings,
        failures: [{ ...ours, worker: '*' }, ...failures.filter(({ reason }) => reason !== NO_DESCRIPTORS)],
      };
}

const isFailure = (read: object): read is Failure => 'reason' in read;

function failed(worker: string, error: unknown): Failure {
  return {
    worker,
    reason: error instanceof ProbeError ? error.message : `The collector failed: ${String(error)}.`,
  };
}
