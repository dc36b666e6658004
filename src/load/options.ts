/** What a sustained load is run with, and what it gives at its end. */
import type { Mix } from '../cases/mixed.ts';
import type { Interval, LedgerCounts } from '../ledger/ledger.ts';
import type { Logger } from '../log.ts';
import type { Build } from '../targets/target.ts';
import type { LoadMetrics } from './metrics.ts';

/** A build to put under load, and where its probe is. */
export interface LoadTarget {
  readonly build: Build;
  /** The label `target`; null: the build's own name. */
  readonly name: string | null;
  /** Directory of its probe; null: a private one where we start it, else none. */
  readonly probeDir: string | null;
  /** The label `build`; null: what the probe or the package says. */
  readonly label: string | null;
}

export interface LoadOptions {
  readonly targets: readonly LoadTarget[];
  readonly seed: number;
  /** Arrivals per second and target. */
  readonly rate: number;
  readonly mix: Mix;
  /** Arrivals per target; null: no bound. */
  readonly sessions: number | null;
  /** Seconds; null: no bound. */
  readonly duration: number | null;
  /** Seconds to go on telling the metrics after the last session, so that the last counts are scraped. */
  readonly linger: number;
  /** Sessions that may be played at a time on one target. */
  readonly maxInFlight: number;
  /** Idle time in seconds after which the operator wants a session gone; null: the target's own timeout. */
  readonly idleMaxSeconds: number | null;
  readonly metrics: LoadMetrics;
  /** Ends the load in order. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** What became of one target. */
export interface TargetSummary {
  /** As the metrics name it. */
  readonly target: string;
  readonly counts: LedgerCounts;
  readonly expected: Interval;
  /** Arrivals that were due, and of these how many were left out. */
  readonly arrivals: number;
  readonly late: number;
  /** Milliseconds; null where no request was answered. */
  readonly p50: number | null;
  readonly p99: number | null;
  /** Sessions that may be left on someone else's server: not deleted at the end, or it refused to delete them. */
  readonly leftBehind: number;
  readonly started: boolean;
  /** Why it was not started, or is no longer there; null where neither is so. */
  readonly failure: string | null;
}

export interface LoadSummary {
  readonly targets: readonly TargetSummary[];
}
