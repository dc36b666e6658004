/**
 * Raw samples and what may be concluded from them. Between two samples of a counter its value is not known, but
 * bounded by both: so each question is asked of the side on which the answer is certain.
 */

/** One series as it was scraped: times in seconds since the epoch, ascending. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** Index of the last sample at or before `t`; -1 where there is none. */
export function lastAt({ times }: Series, t: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? Infinity) <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Index of the first sample at or after `t`; -1 where there is none. */
export function firstFrom(series: Series, t: number): number {
  const before = lastAt(series, t);
  if (before >= 0 && series.times[before] === t) return before;
  return before + 1 < series.times.length ? before + 1 : -1;
}

/** A counter had reached at least this by `t`: 0 before its first sample, since counters begin at 0. */
export const atLeastBy = (series: readonly Series[], t: number): number =>
  sum(series.map((one) => one.values[lastAt(one, t)] ?? 0));

/**
 * A counter had reached at most this by `t`; null where no later sample tells.
 * @param held the series have ended, and hold their last value
 */
export function atMostBy(series: readonly Series[], t: number, held: boolean): number | null {
  let total = 0;
  for (const one of series) {
    const value = one.values[firstFrom(one, t)] ?? (held ? (one.values.at(-1) ?? 0) : undefined);
    if (value === undefined) return null;
    total += value;
  }
  return total;
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The last value of each, summed. */
export const finalOf = (series: readonly Series[]): number =>
  sum(series.map((one) => one.values.at(-1) ?? 0));

/** Every time at which one of them was sampled, ascending. */
export const timesOf = (series: readonly Series[]): number[] =>
  [...new Set(series.flatMap(({ times }) => times))].sort((a, b) => a - b);

/** Usual distance between samples in seconds; null for fewer than two. */
export function intervalOf(series: readonly Series[]): number | null {
  const gaps = series
    .flatMap(({ times }) => times.slice(1).map((time, i) => time - (times[i] ?? time)))
    .sort((a, b) => a - b);
  return gaps[gaps.length >> 1] ?? null;
}

/** A counter went back: it was begun anew, or two counted under one name. */
export const goesBack = ({ values }: Series): boolean =>
  values.some((value, i) => value < (values[i - 1] ?? -Infinity));

/** Evenly thinned to at most so many, the last one always among them. */
export function thinned(times: readonly number[], most: number): number[] {
  const step = Math.max(1, Math.ceil(times.length / most));
  return times.filter((_, i) => (times.length - 1 - i) % step === 0);
}

/** Labels as one text, without those named: series of one scrape with the same key belong together. */
export const keyOf = (labels: Series['labels'], ...without: readonly string[]): string =>
  JSON.stringify(
    Object.entries(labels)
      .filter(([name]) => name !== '__name__' && !without.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
