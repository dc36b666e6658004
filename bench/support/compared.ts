/** A whole comparison of two targets, as the command line does it, and its report. */
import { join } from 'node:path';
import { CASES } from '../../src/cases/index.ts';
import { parseConfig } from '../../src/config/load.ts';
import { silentLogger } from '../../src/log.ts';
import { readRecording } from '../../src/recording/reader.ts';
import { runComparison, type Side } from '../../src/run/compare.ts';
import { resolveTarget } from '../../src/targets/resolve.ts';
import type { ComparisonReport, PerformanceReport } from '../../src/verdict/schema.ts';
import { verdict } from '../../src/verdict/verdict.ts';
import { withFolder } from './sessions.ts';

export interface Comparison {
  /** Targets as mcp-retention.yaml names them. */
  readonly baseline: object;
  readonly candidate: object;
  /** Ids of cases; default: all. */
  readonly cases?: readonly string[];
  readonly sessions?: number;
  /** Seconds; without it speed is not compared. */
  readonly budgetSeconds?: number;
}

export const compared = (options: Comparison): Promise<ComparisonReport> =>
  withFolder(async (folder) => {
    const { baseline, candidate, cases, sessions, budgetSeconds } = options;
    const config = parseConfig(JSON.stringify({ version: 1, targets: { baseline, candidate } }), 'benchmark');
    const side = (name: string): Side => ({
      kind: 'build',
      build: resolveTarget(name, { config, allowHosts: [], headers: {} }),
    });
    const path = await runComparison({
      baseline: side('baseline'),
      candidate: side('candidate'),
      cases: CASES.filter(({ id }) => cases?.includes(id) ?? true),
      size: sessions === undefined ? {} : { sessions },
      performance: budgetSeconds === undefined ? null : { budgetSeconds, smallestEffect: 0.1, decides: true },
      out: join(folder, 'run'),
      policy: { idleMaxSeconds: null, maxSessions: null },
      probeDir: null,
      requireProbe: false,
      command: 'benchmark',
      signal: new AbortController().signal,
      onProgress: () => undefined,
      log: silentLogger(),
    });
    const { comparison } = verdict(await readRecording(path));
    if (!comparison) throw new Error('the recording compares nothing');
    return comparison;
  });

/** How often a benchmark is repeated: BENCH_RUNS for a short try. */
export function runsOf(usual: number): number {
  const asked = Number(process.env['BENCH_RUNS'] ?? usual);
  if (!Number.isInteger(asked) || asked < 1) throw new Error('BENCH_RUNS must be a whole number from 1 on');
  return asked;
}

type Measure = PerformanceReport['measures'][number];

export function measureOf(report: ComparisonReport, id: Measure['id']): Measure {
  const found = report.performance?.measures.find((one) => one.id === id);
  if (!found) throw new Error(`no measure ${id}`);
  return found;
}

/** Measures found to be worse or better. */
export const findingsOf = ({ performance }: ComparisonReport): readonly Measure[] =>
  performance?.measures.filter(({ decision }) => decision === 'worse' || decision === 'better') ?? [];

export const showChange = ({ change }: Measure): string =>
  change === null ? '–' : `${percent(change.estimate)} (${percent(change.low)} to ${percent(change.high)})`;

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
