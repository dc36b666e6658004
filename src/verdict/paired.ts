/**
 * The difference between two builds over paired blocks: few values, some of them wild.
 */
import { draws, median, type Estimate } from './statistics.ts';

/** Fewer pairs give no interval. */
export const LEAST_PAIRS = 5;

const RESAMPLES = 2000;
const SEED = 1;
const NORMAL_995 = 2.576;
/** The standard error of a median, as a multiple of the mean's. */
const MEDIAN_ERROR = 1.253;

/** Quantiles 0.995 of Student's t by degrees of freedom from 4 on; beyond, it is the normal's within a twentieth. */
const T_995 = [
  4.604, 4.032, 3.707, 3.499, 3.355, 3.25, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921, 2.898,
];
const T_995_BEYOND = 2.7;

/**
 * Median of the differences with a 99 % interval by bootstrap over the pairs. The bootstrap of few values is too
 * narrow: its interval is widened about the estimate as Student's t is wider than the normal distribution. Neither
 * the order of the pairs nor anything random matters: the same differences give the same interval.
 * @param noise standard deviation of a difference as it is known from within the pairs: five values that agree by
 * chance do not make the interval narrower than this allows
 * @returns null for fewer than 5 pairs
 */
export function pairedDifference(differences: readonly number[], noise = 0): Estimate | null {
  const n = differences.length;
  if (n < LEAST_PAIRS) return null;
  const sorted = [...differences].sort((a, b) => a - b);
  const estimate = median(sorted);
  const medians = Float64Array.from(
    middlesOf(n),
    ([below, above]) => ((sorted[below] ?? NaN) + (sorted[above] ?? NaN)) / 2,
  ).sort();
  const at = (share: number): number => medians[Math.round(share * (RESAMPLES - 1))] ?? NaN;
  const wider = widening(n);
  const least = (NORMAL_995 * MEDIAN_ERROR * noise) / Math.sqrt(n);
  return {
    estimate,
    low: estimate - Math.max(least, wider * (estimate - at(0.005))),
    high: estimate + Math.max(least, wider * (at(0.995) - estimate)),
  };
}

type Middle = readonly [number, number];

const middles = new Map<number, readonly Middle[]>();

/** Which two of n sorted values (of an odd number, the same twice) stand in the middle of each resample. */
function middlesOf(n: number): readonly Middle[] {
  const known = middles.get(n);
  if (known) return known;
  const random = draws(SEED);
  const drawn = Array.from({ length: RESAMPLES }, (): Middle => {
    const places = Array.from({ length: n }, () => Math.floor((random.next().value as number) * n));
    places.sort((a, b) => a - b);
    return [places[(n - 1) >> 1] ?? 0, places[n >> 1] ?? 0];
  });
  middles.set(n, drawn);
  return drawn;
}

/** How much too narrow the bootstrap of n values is. */
const widening = (n: number): number =>
  ((T_995[n - LEAST_PAIRS] ?? T_995_BEYOND) / NORMAL_995) * Math.sqrt(n / (n - 1));

/** The standard deviation of normal values, as a multiple of their median absolute deviation. */
const DEVIATION = 1.4826;

/**
 * Standard deviation of the median of some differences, as far as they themselves tell: by how far they usually lie
 * from it, so that a few busy moments do not count.
 * @param groups the differences behind each median; such of fewer than 2 tell nothing
 */
export function noiseOf(groups: readonly (readonly number[])[]): number {
  const telling = groups.filter((values) => values.length > 1);
  if (telling.length === 0) return 0;
  const usual = median(telling.flatMap((values) => values.map((value) => Math.abs(value - median(values)))));
  // Around their own middle few values lie closer than around the true one.
  return (MEDIAN_ERROR * DEVIATION * usual) / Math.sqrt(median(telling.map((values) => values.length)) - 1);
}
