/** What a benchmark is, and how paired rounds are taken. */
import { median } from '../../src/verdict/statistics.ts';

export interface Outcome {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** How the figures were taken and what they come to, a sentence each. */
  readonly notes: readonly string[];
  /** The same as data. */
  readonly figures: Readonly<Record<string, unknown>>;
}

export interface Benchmark {
  readonly name: string;
  readonly title: string;
  /** It takes many minutes: it runs only where it is named. */
  readonly onRequest?: boolean;
  run(): Promise<Outcome>;
}

/**
 * Runs every contestant once a round, in an order that turns by one each round, so that a busy moment of the
 * machine meets each of them. The first round warms up and is discarded.
 * @returns results[name][round]
 */
export async function alternating<N extends string, R>(
  contestants: Readonly<Record<N, () => Promise<R>>>,
  rounds: number,
): Promise<Record<N, R[]>> {
  const names = Object.keys(contestants) as N[];
  const results = Object.fromEntries(names.map((name) => [name, [] as R[]])) as Record<N, R[]>;
  for (let round = -1; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round + 1) % names.length] as N;
      const result = await contestants[name]();
      if (round >= 0) results[name].push(result);
    }
  }
  return results;
}

export interface Ratio {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The ratios of what was measured in the same round. */
export function pairedRatio(above: readonly number[], below: readonly number[]): Ratio {
  const ratios = above.map((value, i) => value / (below[i] ?? NaN));
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}

export const showRatio = ({ median: middle, min, max }: Ratio): string =>
  `${middle.toFixed(3)} (${min.toFixed(3)}–${max.toFixed(3)})`;

/** `share` of the values are at most this. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
