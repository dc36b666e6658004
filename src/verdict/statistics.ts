/**
 * Robust statistics for memory as evidence. Resident memory steps and its samples are autocorrelated: least
 * squares with independent errors gives a healthy build a slope "significantly" above zero.
 */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Estimate {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

/** Middle value of a list that need not be sorted; NaN for an empty one. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** Theil–Sen: the median of the slopes between all pairs of points with different x. */
export function slope(points: readonly Point[]): number {
  const slopes: number[] = [];
  for (const [i, a] of points.entries())
    for (const b of points.slice(i + 1)) if (b.x !== a.x) slopes.push((b.y - a.y) / (b.x - a.x));
  return median(slopes);
}

const LEAST_POINTS = 6;
const LEAST_SPREAD = 30;

/** At most this many batches, so that the pairs stay few however long a run was. */
const MOST_POINTS = 60;

/** Neighbours together in batches, each by its medians: fewer points, the same line. */
export function batches(points: readonly Point[], most = MOST_POINTS): Point[] {
  const size = Math.max(1, Math.ceil(points.length / most));
  const out: Point[] = [];
  for (let i = 0; i < points.length; i += size) {
    const batch = points.slice(i, i + size);
    out.push({ x: median(batch.map((p) => p.x)), y: median(batch.map((p) => p.y)) });
  }
  return out;
}

/** A small fixed generator: the same recording gives the same interval. */
export function* draws(seed: number): Generator<number> {
  let state = seed >>> 0;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 4294967296;
  }
}

/**
 * Robust slope with a 95 % interval by a moving-block bootstrap of the line's residuals: blocks keep the
 * dependence between neighbouring samples.
 * @returns null where there are fewer than 6 points, or fewer than 30 sessions between the first and the last:
 * then the noise of an allocator is larger than what could be seen.
 */
export function robustSlope(all: readonly Point[], resamples = 200): Estimate | null {
  const points = batches([...all].sort((a, b) => a.x - b.x));
  const spread = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
  if (points.length < LEAST_POINTS || spread < LEAST_SPREAD) return null;
  const estimate = slope(points);
  const offset = median(points.map((p) => p.y - estimate * p.x));
  const residuals = points.map((p) => p.y - offset - estimate * p.x);
  const block = Math.max(2, Math.round(Math.sqrt(points.length)));
  const random = draws(points.length);
  const slopes: number[] = [];
  for (let r = 0; r < resamples; r++) {
    const noise: number[] = [];
    while (noise.length < points.length) {
      const start = Math.floor((random.next().value as number) * (residuals.length - block + 1));
      noise.push(...residuals.slice(start, start + block));
    }
    slopes.push(slope(points.map((p, i) => ({ x: p.x, y: offset + estimate * p.x + (noise[i] ?? 0) }))));
  }
  slopes.sort((a, b) => a - b);
  const at = (q: number): number => slopes[Math.round(q * (slopes.length - 1))] ?? NaN;
  return { estimate, low: Math.min(estimate, at(0.025)), high: Math.max(estimate, at(0.975)) };
}
