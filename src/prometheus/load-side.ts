/** The load's series of one run on one target, from `mcp-retention load` or from k6, as one account of sessions. */
import * as catalogue from '../metrics/catalogue.ts';
import { K6_COUNTERS, k6Names } from '../metrics/k6.ts';
import type { Metric } from '../metrics/metric.ts';
import { atLeastBy, atMostBy, finalOf, goesBack, intervalOf, sum, timesOf, type Series } from './series.ts';

/** ledger: its own interval of what is expected is among the series. counters: k6, which has none. */
export type Source = 'ledger' | 'counters';

/** Idle time after which a session must be gone; the expiry may be late by the slack. Seconds. */
export interface ExpiryPolicy {
  readonly idle: number;
  readonly slack: number;
}

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** k6 writes every 5 s by default, so an event may be this much older than its sample, with some to spare. */
const K6_LAG_SECONDS = 10;

type Name = (typeof K6_COUNTERS)[number] | typeof catalogue.clientExpected;

export class LoadSide {
  readonly target: string;
  readonly source: Source;
  readonly cases: readonly string[];
  readonly builds: readonly string[];
  readonly #series: readonly Series[];

  constructor(target: string, series: readonly Series[]) {
    this.target = target;
    const own = series.filter(({ labels }) => labels.target === target);
    const raw = own.filter(({ labels }) => labels.__name__?.startsWith('k6_') === true);
    const scraped = own.filter((one) => !raw.includes(one) && one.labels.job !== undefined);
    // What a rule made of k6's series has no job. Where k6's own are there, it would count them twice.
    const ruled = own.filter(({ labels }) => labels.job === undefined);
    this.source = scraped.length > 0 ? 'ledger' : 'counters';
    this.#series = scraped.length > 0 ? scraped : raw.length > 0 ? raw : ruled;
    this.cases = [...new Set(this.#series.map(({ labels }) => labels.case ?? ''))];
    this.builds = [...new Set(this.#series.map(({ labels }) => labels.build ?? ''))];
  }

  /** Scraped series tell nothing after their last sample; k6 writes what changes, and its last word at its end. */
  get held(): boolean {
    return this.source === 'counters';
  }

  of(metric: Name, matching: Readonly<Record<string, string>> = {}): readonly Series[] {
    const names: readonly string[] = [metric.name, ...k6Names(metric)];
    return this.#series.filter(
      ({ labels }) =>
        names.includes(labels.__name__ ?? '') &&
        Object.entries(matching).every(([label, value]) => labels[label] === value),
    );
  }

  /** Every time at which something of it was sampled. */
  get times(): readonly number[] {
    return timesOf(this.#series);
  }

  get first(): number {
    return Math.min(...this.#series.map(({ times }) => times[0] ?? Infinity));
  }

  get last(): number {
    return Math.max(...this.#series.map(({ times }) => times.at(-1) ?? -Infinity));
  }

  /** Until then surely nothing had been opened. */
  get idleUntil(): number {
    const opened = this.of(catalogue.clientOpened);
    const all = [...opened, ...this.of(catalogue.clientRefused), ...this.of(catalogue.clientUncertain)];
    const zero = timesOf(all).findLast((t) => atMostBy(all, t, true) === 0);
    if (zero !== undefined && this.source === 'ledger') return zero;
    const interval = intervalOf(opened) ?? 0;
    return this.first - 2 * (this.source === 'ledger' ? interval : interval + K6_LAG_SECONDS);
  }

  /** A counter went back, so that two runs bear one name. */
  get twice(): boolean {
    return K6_COUNTERS.some((counter) => this.of(counter).some(goesBack));
  }

  /** How many there were in the end. */
  final(metric: Name, matching: Readonly<Record<string, string>> = {}): number {
    return finalOf(this.of(metric, matching));
  }

  /** As `final`, of the answers whose status begins with this. */
  answers(method: string | null, status: string, ofCase: string): number {
    const matching = { case: ofCase, ...(method !== null && { method }) };
    return finalOf(
      this.of(catalogue.clientRequests, matching).filter(
        ({ labels }) => labels.status?.startsWith(status) === true,
      ),
    );
  }

  /** At least so many of the opened sessions must have left the registry by `t`. */
  goneBy(t: number, policy: ExpiryPolicy): number {
    const by = (metric: Metric): number => atLeastBy(this.of(metric as Name), t);
    if (this.source === 'ledger') {
      // One scrape tells both: opened, and how many of them may still be there.
      const most = atLeastBy(this.of(catalogue.clientExpected, { bound: 'max' }), t);
      return by(catalogue.clientOpened) - most;
    }
    const overdue = atLeastBy(this.of(catalogue.clientAbandoned), t - policy.idle - policy.slack);
    const deleted = by(catalogue.clientDeleted);
    // Where scripts delete what they had abandoned, nobody knows which of them were due before.
    const ended = this.both > 0 ? Math.max(deleted, overdue) : deleted + overdue;
    return ended - this.final(catalogue.clientUncertain);
  }

  /**
   * What may be registered of this run from `t` to `until`, where it has come to rest for good: nothing is in flight,
   * nothing changes, and nothing comes afterwards that such a moment would not speak for. null: it has not.
   */
  restingExpectation(t: number, until: number, policy: ExpiryPolicy): Bounds | null {
    for (const counter of K6_COUNTERS) {
      const series = this.of(counter);
      const reached = atLeastBy(series, t);
      if (reached !== finalOf(series) || reached !== atMostBy(series, until, this.held)) return null;
    }
    const by = (metric: Name): number => atLeastBy(this.of(metric), t);
    const uncertain = by(catalogue.clientUncertain);
    const found =
      this.source === 'ledger' ? this.#ledgerAt(t, until) : this.#counted(t, until, policy, uncertain);
    if (found === null) return null;
    const inFlight =
      this.source === 'ledger'
        ? found.max - by(catalogue.clientAbandoned) - uncertain
        : by(catalogue.clientOpened) -
          by(catalogue.clientDeleted) -
          by(catalogue.clientAbandoned) -
          uncertain;
    return inFlight > 0 || found.max - found.min > 2 * uncertain ? null : found;
  }

  #ledgerAt(t: number, until: number): Bounds | null {
    const bound = (which: 'min' | 'max'): number | null => {
      const series = this.of(catalogue.clientExpected, { bound: which });
      const before = atLeastBy(series, t);
      return atMostBy(series, until, false) === before ? before : null;
    };
    const [min, max] = [bound('min'), bound('max')];
    return min === null || max === null ? null : { min, max };
  }

  #counted(t: number, until: number, { idle, slack }: ExpiryPolicy, uncertain: number): Bounds {
    const left =
      atLeastBy(this.of(catalogue.clientOpened), t) - atLeastBy(this.of(catalogue.clientDeleted), t);
    const abandoned = this.of(catalogue.clientAbandoned);
    const mustBeGone = Math.max(0, atLeastBy(abandoned, t - idle - slack) - this.both);
    const mayBeGone = atMostBy(abandoned, until - idle + K6_LAG_SECONDS, true) ?? 0;
    return {
      min: Math.max(0, left - mayBeGone - uncertain),
      max: Math.max(0, left - mustBeGone + uncertain),
    };
  }

  /** Sessions that were abandoned and, in a clean-up, deleted: a load side counts them as both. */
  get both(): number {
    const ended = this.final(catalogue.clientAbandoned) + this.final(catalogue.clientDeleted);
    return Math.max(0, ended - this.final(catalogue.clientOpened));
  }

  /** Sessions that are there neither as opened nor as ended in any known way, in the end. */
  get openInTheEnd(): number {
    return Math.max(
      0,
      sum([
        this.final(catalogue.clientOpened),
        -this.final(catalogue.clientDeleted),
        -this.final(catalogue.clientAbandoned),
        -this.final(catalogue.clientUncertain),
      ]),
    );
  }
}
