/** What a collector brings back from one target, and within which time. */
import { ProbeError } from '../src/observe/probe-client.ts';

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

/** Runs a collector. It never throws, and what is not there at the deadline is a failure of the whole target. */
export async function timed<T>(
  deadlineMs: number,
  collect: (deadlineMs: number) => Promise<Collected<T>>,
): Promise<Timed<T>> {
  const began = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Collected<T>>((resolve) => {
    const reason = `Nothing was collected within ${Math.round(deadlineMs)} ms.`;
    timer = setTimeout(() => resolve({ readings: [], failures: [{ worker: '*', reason }] }), deadlineMs);
  });
  // The workers' own deadline comes first, so that those that answered are not lost with one that hangs.
  const collected = await Promise.race([guarded(() => collect(deadlineMs * WORKERS_SHARE)), late]);
  clearTimeout(timer);
  return { ...collected, seconds: (performance.now() - began) / 1000 };
}

const WORKERS_SHARE = 0.95;

async function guarded<T>(collect: () => Promise<Collected<T>>): Promise<Collected<T>> {
  try {
    return await collect();
  } catch (error) {
    const reason = error instanceof ProbeError ? error.message : `The collector failed: ${String(error)}.`;
    return { readings: [], failures: [{ worker: '*', reason }] };
  }
}
