/** What the operator decides about the rules, and the windows that follow from it. */
import { duration, type QueryOptions } from '../promql.ts';

export interface RulesOptions extends QueryOptions {
  /** Policy: the longest idle time of a session, in seconds. Absent: each server's own timeout, else 30 minutes. */
  readonly idleMaxSeconds?: number;
  /** Policy: cap on sessions per session manager, for servers that have none of their own. */
  readonly maxSessions?: number;
  /** Scrape interval of exporter and load: the two are never read at the same instant. */
  readonly scrapeIntervalSeconds: number;
  /** Where the runbooks are; `#` and the alert's name in lower case follow. */
  readonly runbooks: string;
}

export const DEFAULT_RULES_OPTIONS: RulesOptions = {
  selector: '',
  loadSelector: '',
  scrapeIntervalSeconds: 15,
  runbooks: 'docs/runbooks.md',
};

/** Where neither the policy nor the server says how long a session may be idle. */
export const FALLBACK_IDLE_SECONDS = 1800;

/** In which starts of workers are counted; the names of what is recorded say it as well. */
export const STARTS_WINDOW = '30m';
export const STARTS_SECONDS = 1800;

export interface Windows {
  /** Longer than two scrapes are ever apart. */
  readonly skew: string;
  /** For rates. */
  readonly rate: string;
  /** For growth, which needs more points than a rate. */
  readonly trend: string;
  /** Twice the idle timeout, and never under ten minutes: what has not expired in it does not expire. */
  readonly long: string;
  readonly longSeconds: number;
}

/** Prometheus durations by the options: with the defaults 1m, 5m, 10m and 1h. */
export const windowsOf = (options: RulesOptions): Windows => {
  const rate = Math.max(60, 20 * options.scrapeIntervalSeconds);
  const longSeconds = Math.max(600, 2 * idleSecondsOf(options));
  return {
    skew: duration(4 * options.scrapeIntervalSeconds),
    rate: duration(rate),
    trend: duration(2 * rate),
    long: duration(longSeconds),
    longSeconds,
  };
};

export const idleSecondsOf = (options: RulesOptions): number =>
  options.idleMaxSeconds ?? FALLBACK_IDLE_SECONDS;
