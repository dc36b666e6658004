/** Runs a load in this process, and reads its own metrics. */
import { DEFAULT_MIX } from '../../src/cases/mixed.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { Interval } from '../../src/ledger/ledger.ts';
import { runLoad } from '../../src/load/load.ts';
import { LoadMetrics } from '../../src/load/metrics.ts';
import type { LoadOptions, LoadSummary, TargetSummary } from '../../src/load/options.ts';
import { silentLogger } from '../../src/log.ts';
import { resolveTarget } from '../../src/targets/resolve.ts';

export interface LoadUnderTest {
  /** Expected sessions of a target now, summed over its cases, as its metrics say. */
  expected(target: string): Promise<Interval>;
  /** The sum of a metric's series that bear these labels. */
  value(metric: string, labels: Readonly<Record<string, string>>): Promise<number>;
  readonly metrics: LoadMetrics;
  /** Ends it as SIGTERM does. */
  stop(): void;
  readonly done: Promise<LoadSummary>;
}

export interface TestedTarget {
  /** A URL, or a name of the configuration. */
  readonly target: string;
  readonly probeDir?: string;
}

export type TestedOptions = Partial<
  Pick<
    LoadOptions,
    'seed' | 'rate' | 'mix' | 'sessions' | 'duration' | 'maxInFlight' | 'idleMaxSeconds' | 'log'
  >
>;

const running = new Set<() => void>();

/** Ends what a failed test left running. */
export function stopLoads(): void {
  for (const stop of running) stop();
}

export function startLoad(
  targets: readonly TestedTarget[],
  options: TestedOptions,
  config = 'version: 1',
): LoadUnderTest {
  const metrics = new LoadMetrics('test');
  const stopping = new AbortController();
  const done = runLoad({
    targets: targets.map(({ target, probeDir }) => ({
      build: resolveTarget(target, {
        config: parseConfig(config, 'test.yaml'),
        allowHosts: [],
        headers: {},
        ...(probeDir !== undefined && { probeDir }),
      }),
      probeDir: probeDir ?? null,
      label: null,
    })),
    seed: 1,
    rate: 50,
    mix: DEFAULT_MIX,
    sessions: null,
    duration: null,
    linger: 0,
    maxInFlight: 200,
    idleMaxSeconds: null,
    metrics,
    signal: stopping.signal,
    log: silentLogger(),
    ...options,
  });
  const stop = (): void => stopping.abort();
  running.add(stop);
  void done.finally(() => running.delete(stop)).catch(() => undefined);
  const value: LoadUnderTest['value'] = async (name, labels) => {
    metrics.publish();
    const { values } = (await metrics.registry.getSingleMetric(name)?.get()) ?? { values: [] };
    return values
      .filter((series) => Object.entries(labels).every(([key, text]) => series.labels[key] === text))
      .reduce((sum, series) => sum + series.value, 0);
  };
  return {
    value,
    expected: async (target) => ({
      min: await value('mcp_client_sessions_expected', { target, bound: 'min' }),
      max: await value('mcp_client_sessions_expected', { target, bound: 'max' }),
    }),
    metrics,
    stop,
    done,
  };
}

/** The summary of a load on a single target. */
export async function only(done: Promise<LoadSummary>): Promise<TargetSummary> {
  const [summary] = (await done).targets;
  if (summary === undefined) throw new Error('a load without targets');
  return summary;
}
