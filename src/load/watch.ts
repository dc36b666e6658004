/**
 * Notices restarts of a target, so that its ledgers start anew: by the start times that its probe tells. Where a
 * restart is possible and not known, the ledgers are in doubt; nothing is guessed.
 */
import type { Ledger } from '../ledger/ledger.ts';
import type { Logger } from '../log.ts';
import { ProbeReader, type ProbeReading } from '../observe/sessions.ts';
import type { RunningTarget } from '../targets/target.ts';

const LOOK_EVERY_MS = 1000;
const PROBE_TIMEOUT_MS = 2000;
/** Start times that differ by less are the same. */
const SAME_SECONDS = 0.05;
/** A start time that was computed from the boot time, which the kernel gives in whole seconds, is early by up to 1 s. */
const EARLY_MS = 1100;
const INEXACT_MS = 100;
/** A look may tell of a restart that lies this far back. */
const SETTLED_AFTER_MS = EARLY_MS + INEXACT_MS + PROBE_TIMEOUT_MS;

export interface WatchOptions {
  readonly running: RunningTarget;
  /** Whether someone else runs it: then it may go and come back. */
  readonly foreign: boolean;
  /** Directory of the probe, or null where there is none. */
  readonly probeDir: string | null;
  readonly ledgers: readonly Ledger[];
  readonly log: Logger;
  /** Called once, with the reason, when a process that we started has ended. */
  readonly onDeath: (reason: string) => void;
}

/** unsent: no connection was accepted. broken: one ended before its answer. lost: a session is not known any more. */
export type Suspicion = 'unsent' | 'broken' | 'lost';

export class TargetWatch {
  readonly #options: WatchOptions;
  readonly #probe = new ProbeReader();
  /** Start times of the workers that have served so far; null before the first look. */
  #known: ReadonlyMap<string, number> | null = null;
  readonly #began = performance.now();
  /** The last moment at which a restart became possible. */
  #doubtedAt = -Infinity;
  #looking: Promise<void> | null = null;
  #dead = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    await this.#probe.close();
  }

  /** Something happened that a restart would explain. */
  suspect(what: Suspicion): void {
    const { probeDir, running } = this.#options;
    if (this.#dead) return;
    if (probeDir !== null || what !== 'broken') {
      this.#doubt();
      void this.look();
      return;
    }
    // A connection may break for many a reason; the end of a process also closes its port.
    void running.alive().then((alive) => {
      if (!alive) this.#doubt();
    });
  }

  /** Looks at the target once; looks that are asked for meanwhile are this one. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = null));
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { probeDir, ledgers } = this.#options;
    this.#noticeDeath();
    if (this.#dead) return;
    if (probeDir === null) {
      // Without a probe, no restart is ever told of.
      for (const ledger of ledgers) ledger.settle(performance.now());
      return;
    }
    const at = performance.now();
    const reading = await this.#probe.read(probeDir, { timeoutMs: PROBE_TIMEOUT_MS });
    // What was read before the doubt began does not end it: the next look will.
    if (this.#doubtedAt <= at && reading.workers.length > 0) this.#judge(reading, at);
  }

  /** One that we started does not come back. */
  #noticeDeath(): void {
    const { foreign, running, ledgers, onDeath } = this.#options;
    const reason = foreign || this.#dead ? null : running.death();
    if (reason === null) return;
    this.#dead = true;
    for (const ledger of ledgers) ledger.reset();
    onDeath(reason);
  }

  #doubt(): void {
    this.#doubtedAt = performance.now();
    for (const ledger of this.#options.ledgers) ledger.doubt(this.#doubtedAt);
  }

  #judge({ workers, errors }: ProbeReading, at: number): void {
    const starts = new Map(workers.map(({ worker, snapshot }) => [worker, snapshot.processStartTime]));
    const known = this.#known;
    const missing =
      known === null ? [] : [...known.keys()].filter((worker) => !isSame(known, starts, worker));
    const survived = known !== null && missing.length < known.size;
    // One of several that does not answer may be alive: then nothing is known yet.
    const silent = missing.some((worker) => errors.some((error) => error.worker === worker));
    if (silent && (survived || known?.size !== 1)) return;
    this.#known = starts;
    const times = [...starts.values()].map(onOurClock);
    if (known === null ? Math.min(...times) <= this.#began : missing.length === 0) this.#trust(at);
    else if (survived) this.#restarted(-Infinity, Infinity, 'one of its workers');
    else this.#restarted(Math.min(...times) - INEXACT_MS, Math.max(...times) + EARLY_MS, 'the server');
  }

  #trust(at: number): void {
    for (const ledger of this.#options.ledgers) {
      ledger.trust();
      ledger.settle(at - SETTLED_AFTER_MS);
    }
  }

  #restarted(goneBy: number, keptFrom: number, what: string): void {
    for (const ledger of this.#options.ledgers) ledger.restarted(goneBy, keptFrom);
    this.#options.log.warn({ code: 'restarted' }, `${what} has restarted: what it held is gone`);
  }
}

function isSame(
  known: ReadonlyMap<string, number>,
  now: ReadonlyMap<string, number>,
  worker: string,
): boolean {
  return Math.abs((known.get(worker) ?? NaN) - (now.get(worker) ?? NaN)) < SAME_SECONDS;
}

/** Unix seconds as performance.now() has them. By the present offset: clocks are corrected now and then. */
const onOurClock = (unixSeconds: number): number => performance.now() - (Date.now() - unixSeconds * 1000);
