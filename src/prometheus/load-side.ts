/** The load's series of one run on one target, from `mcp-retention load` or from k6, as one account of sessions. */
import { PREFLIGHT, SURVIVAL } from '../cases/around.ts';
import * as catalogue from '../metrics/catalogue.ts';
import { K6_COUNTERS, K6_PARTS, k6Names } from '../metrics/k6.ts';
import {
  atLeastBy,
  atMostBy,
  finalOf,
  firstFrom,
  goesBack,
  intervalOf,
  lastAt,
  sum,
  timesOf,
  type Series,
} from './series.ts';

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

type Name = (typeof K6_COUNTERS)[number] | (typeof K6_PARTS)[number] | typeof catalogue.clientExpected;
type Matching = Readonly<Record<string, string>>;

/** A k6 script of the run, by the case that its options name. */
export interface Script {
  readonly name: string;
  /** How much of its load was begun, and how much of that was played to its end. */
  readonly begun: number;
  readonly finished: number;
}

/** What scripts play around their load: in the account, and no evidence of anything. */
const AROUND: readonly string[] = [PREFLIGHT.name, SURVIVAL.name];

const isAround = ({ labels }: Series): boolean => AROUND.includes(labels.stage ?? '');

/** Its refused openings use every method, DELETE among them. */
const REJECT = 'reject';

export class LoadSide {
  readonly target: string;
  readonly source: Source;
  readonly cases: readonly string[];
  readonly builds: readonly string[];
  /** Of k6 alone: all that left a trace in the run. */
  readonly scripts: readonly Script[];
  readonly #series: readonly Series[];
  /** Seconds within which k6 has surely written what it counted. */
  #pushes: number | null = null;

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
    this.scripts = this.source === 'ledger' ? [] : this.#scripts();
  }

  /** Each plays a session before its load, so that one which was aborted after that is among them. */
  #scripts(): Script[] {
    const traces = [...K6_PARTS.flatMap((metric) => this.of(metric)), ...this.#series.filter(isAround)];
    return [...new Set(traces.map(({ labels }) => labels.case ?? ''))].map((name) => ({
      name,
      begun: this.final(catalogue.partsBegun, { case: name }),
      finished: this.final(catalogue.partsFinished, { case: name }),
    }));
  }

  /** k6 was cut, still runs, or does not tell: what it has counted is not all that it did. */
  get isCut(): boolean {
    return this.source === 'counters' && (this.scripts.length === 0 || this.scripts.some(isUnfinished));
  }

  /** k6 writes what changes, and its last word at its end: until then, as with a scrape, nothing is known of later. */
  get held(): boolean {
    return this.source === 'counters' && !this.isCut;
  }

  of(metric: Name, matching: Matching = {}): readonly Series[] {
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
    return [...K6_COUNTERS, ...K6_PARTS].some((counter) => this.of(counter).some(goesBack));
  }

  /** How many there were in the end, of the load and around it. */
  final(metric: Name, matching: Matching = {}): number {
    return finalOf(this.of(metric, matching));
  }

  /** As `final`, of the load alone: what is evidence of its claims. */
  played(metric: Name, matching: Matching = {}): number {
    return finalOf(this.of(metric, matching).filter((one) => !isAround(one)));
  }

  /** Requests whose status begins with this, of the load and around it. */
  answers(status: string, matching: Matching): number {
    return finalOf(this.#answered(status, matching));
  }

  /** As `answers`, of the load alone. */
  playedAnswers(status: string, matching: Matching): number {
    return finalOf(this.#answered(status, matching).filter((one) => !isAround(one)));
  }

  /** As `answers`, of the session that k6 plays when its load is over; DELETE may be declined with 405. */
  get survival(): { readonly asked: number; readonly bad: number; readonly lost: number } {
    const matching = { stage: SURVIVAL.name };
    const asked = this.answers('', matching);
    const declined = this.answers('405', { ...matching, method: 'DELETE' });
    const bad = asked - this.answers('2', matching) - declined;
    return { asked, bad, lost: this.answers('404', matching) };
  }

  #answered(status: string, matching: Matching): readonly Series[] {
    return this.of(catalogue.clientRequests, matching).filter(
      ({ labels }) => labels.status?.startsWith(status) === true,
    );
  }

  /** Of openings and of DELETEs, how many got no answer, at most: one counter has both. */
  get unanswered(): { readonly openings: number; readonly deletions: number } {
    const uncertain = this.final(catalogue.clientUncertain);
    const deletions = this.answers('0', { method: 'DELETE' });
    const refusals = this.answers('0', { method: 'DELETE', case: REJECT });
    const others = this.answers('0', {}) - deletions + refusals;
    return { openings: Math.min(uncertain, others), deletions: Math.min(uncertain, deletions) };
  }

  /** DELETEs that were accepted, at least and at most: an answer of 404 counts as deleted, and removes nothing. */
  get accepted(): Bounds {
    const ofEach = this.cases.map((ofCase) => {
      const deleted = this.final(catalogue.clientDeleted, { case: ofCase });
      const answers = (status: string): number => this.answers(status, { method: 'DELETE', case: ofCase });
      return { min: Math.max(0, deleted - answers('404')), max: Math.min(deleted, answers('2')) };
    });
    return { min: sum(ofEach.map(({ min }) => min)), max: sum(ofEach.map(({ max }) => max)) };
  }

  /**
   * At most so many by `t`; null where it is not known. What k6 counts it writes with its next push, so that a counter
   * which then goes on later had not grown meanwhile.
   */
  mostBy(metric: Name, t: number): number | null {
    const pushed =
      t + (this.#pushes ??= Math.max(K6_LAG_SECONDS, 2 * (intervalOf(this.#series) ?? Infinity)));
    const bounds = this.of(metric).map((one) => {
      const later = one.times[firstFrom(one, t)];
      if (this.source === 'ledger' || later === undefined || later <= pushed)
        return atMostBy([one], t, this.held);
      return one.values[lastAt(one, t)] ?? 0;
    });
    return bounds.includes(null) ? null : sum(bounds.map((value) => value ?? 0));
  }

  /** At least so many of the opened sessions must have left the registry by `t`. */
  goneBy(t: number, policy: ExpiryPolicy): number {
    const by = (metric: Name): number => atLeastBy(this.of(metric), t);
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
    const found = this.source === 'ledger' ? this.#ledgerAt(t, until) : this.#counted(t, until, policy);
    if (found === null || found.max - found.min > this.#unsure) return null;
    if (this.source === 'counters') return found;
    const left = [catalogue.clientAbandoned, catalogue.clientUncertain].map((metric) => this.final(metric));
    return found.max > sum(left) ? null : found;
  }

  /** Sessions of which the load side cannot know in the end whether they are registered. */
  get #unsure(): number {
    const { openings, deletions } = this.unanswered;
    return this.source === 'ledger'
      ? 2 * this.final(catalogue.clientUncertain)
      : openings + deletions + this.declined;
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

  #counted(t: number, until: number, { idle, slack }: ExpiryPolicy): Bounds {
    const left =
      atLeastBy(this.of(catalogue.clientOpened), t) - atLeastBy(this.of(catalogue.clientDeleted), t);
    const abandoned = this.of(catalogue.clientAbandoned);
    const { openings, deletions } = this.unanswered;
    // Of those that were left and deleted as well, an unanswered DELETE may have been the last that the server heard.
    const both = this.both > 0 ? this.both + deletions : 0;
    const mustBeGone = Math.max(0, atLeastBy(abandoned, t - idle - slack) - both);
    const leftBefore = until - idle + K6_LAG_SECONDS;
    const mayBeGone = leftBefore <= this.idleUntil ? 0 : (atMostBy(abandoned, leftBefore, true) ?? 0);
    return {
      min: Math.max(0, left - mayBeGone - deletions - this.declined),
      max: Math.max(0, left - mustBeGone + openings),
    };
  }

  /** Sessions that were abandoned and, in a clean-up, deleted: a load side counts them as both. */
  get both(): number {
    const ended = this.final(catalogue.clientAbandoned) + this.final(catalogue.clientDeleted);
    return Math.max(0, ended - this.final(catalogue.clientOpened));
  }

  /** Sessions that k6 neither left nor deleted, though it is through with them: their DELETE was declined. */
  get declined(): number {
    const ended = [catalogue.clientDeleted, catalogue.clientAbandoned].map((metric) => this.final(metric));
    return Math.max(0, this.final(catalogue.clientOpened) - sum(ended) - this.unanswered.deletions);
  }
}

const isUnfinished = ({ begun, finished }: Script): boolean => begun === 0 || finished !== begun;
