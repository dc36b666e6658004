/**
 * A sustained mixed load with open arrivals: sessions arrive on a schedule that is the same for every target, however
 * fast or slow it answers, until a count, a time or a signal ends it.
 */
import { setMaxListeners } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { arrivalSeconds, planOfArrival } from '../cases/mixed.ts';
import { privateDirectory } from '../targets/private.ts';
import { TargetError, UsageError } from '../targets/target.ts';
import type { LoadOptions, LoadSummary, TargetSummary } from './options.ts';
import { nameOf, startTarget, type Started } from './prepare.ts';

/** An arrival that is begun later than this was not an arrival of its schedule. */
const BEHIND_MS = 1000;
/** Whether anybody is left is looked at this often. */
const LONGEST_WAIT_MS = 1000;

/** @throws UsageError, before anything is started; TargetError when no target can be started */
export async function runLoad(options: LoadOptions): Promise<LoadSummary> {
  const names = options.targets.map(nameOf);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new UsageError(
      `two targets are called ${twice}, or one stands twice: give each once, under its own name.`,
    );
  for (const { build } of options.targets) await build.admit();
  setMaxListeners(0, options.signal);
  const folder = privateDirectory();
  const started: Started[] = [];
  try {
    const failed = await startAll(options, folder.path, started);
    await Promise.all(started.map(({ load }) => load.start()));
    await arrivals(options, started);
    await Promise.all(started.map(({ load }) => load.finish()));
    const targets = [...started.map(({ load }) => load.summary()), ...failed];
    await linger(options);
    return { targets };
  } finally {
    await Promise.all(started.map(({ running }) => running.stop()));
    folder.remove();
  }
}

/** Starts what can be started; the summaries of the others say why not. */
async function startAll(options: LoadOptions, folder: string, started: Started[]): Promise<TargetSummary[]> {
  const failures = await Promise.all(
    options.targets.map(async (target, i) => {
      const own = join(folder, String(i));
      mkdirSync(own);
      try {
        started.push(await startTarget(target, options, own));
        return null;
      } catch (error) {
        if (!(error instanceof TargetError)) throw error;
        return { target: nameOf(target), error };
      }
    }),
  );
  const failed = failures.filter((failure) => failure !== null);
  for (const { target, error } of failed) options.log.warn({ target }, error.message);
  const [first] = failed;
  if (started.length === 0 && first && !options.signal.aborted) throw first.error;
  return failed.map(({ target, error }) => notStarted(target, error.message));
}

const notStarted = (target: string, failure: string): TargetSummary => ({
  target,
  counts: { opened: 0, deleted: 0, abandoned: 0, refused: 0, uncertain: 0 },
  expected: { min: 0, max: 0 },
  arrivals: 0,
  late: 0,
  p50: null,
  p99: null,
  leftBehind: 0,
  started: false,
  failure,
});

/** Lets sessions arrive until the load is over, or nobody is left to arrive at. */
async function arrivals(options: LoadOptions, started: readonly Started[]): Promise<void> {
  const { seed, rate, mix, sessions, duration, signal } = options;
  const began = performance.now();
  const end = duration === null ? Infinity : began + duration * 1000;
  const goesOn = (): boolean => !signal.aborted && started.some(({ load }) => !load.dead);
  for (let index = 0; index < (sessions ?? Infinity); index++) {
    const due = began + arrivalSeconds(seed, index, rate) * 1000;
    await until(Math.min(due, end), goesOn, signal);
    if (due >= end || !goesOn()) return;
    const arrival = planOfArrival(seed, index, mix);
    const behind = performance.now() - due > BEHIND_MS;
    for (const { load } of started) load.arrive(arrival, behind);
  }
}

/** Cut short by a signal, unless that is what ended the load. */
async function linger({ linger: seconds, signal }: LoadOptions): Promise<void> {
  const cut = signal.aborted ? {} : { signal };
  await delay(seconds * 1000, undefined, cut).catch(() => undefined);
}

async function until(at: number, goesOn: () => boolean, signal: AbortSignal): Promise<void> {
  for (let left = at - performance.now(); left > 0 && goesOn(); left = at - performance.now())
    await delay(Math.min(left, LONGEST_WAIT_MS), undefined, { signal }).catch(() => undefined);
}
