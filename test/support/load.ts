/** Runs a load in this process, and reads its own metrics. */
import type { Kind } from '../../src/cases/mixed.ts';
import { DEFAULT_MIX } from '../../src/cases/mixed.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { Interval, Ledger } from '../../src/ledger/ledger.ts';
import { runLoad } from '../../src/load/load.ts';
import { LoadMetrics, type CaseMetrics, type TargetLabels } from '../../src/load/metrics.ts';
import type { LoadOptions, LoadSummary, TargetSummary } from '../../src/load/options.ts';
import { silentLogger } from '../../src/log.ts';
import { resolveTarget } from '../../src/targets/resolve.ts';

export interface LoadUnderTest {
  /** Expected sessions of a target now, summed over its cases, as its metrics say. */
  expected(target: string): Promise<Interval>;
  /** What `work` gives, and the widest that was expected at any moment while it went on. */
  expectedDuring<T>(target: string, work: () => Promise<T>): Promise<Interval & { readonly result: T }>;
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

/** Changes of a ledger, with the place of their moment among the arguments; null where they have none. */
const CHANGES = { begin: 1, end: 2, doubt: 0, trust: null, restarted: null } as const;

/**
 * Metrics that see each change of the ledgers, however short what was expected before or after it lasted: a reading
 * now and then would miss a deletion and an opening between two of them.
 */
class WatchedMetrics extends LoadMetrics {
  readonly #ledgers = new Map<string, Map<Ledger, Interval>>();
  readonly #watchers = new Set<() => void>();

  override add(target: TargetLabels, kind: Kind, ledger: Ledger): CaseMetrics {
    const ofTarget = this.#ledgers.get(target.target) ?? new Map<Ledger, Interval>();
    this.#ledgers.set(target.target, ofTarget);
    const see = (at: number): void => {
      ofTarget.set(ledger, ledger.expectedAt(at));
      for (const watcher of this.#watchers) watcher();
    };
    see(performance.now());
    for (const [name, place] of Object.entries(CHANGES)) {
      const change = Reflect.get(ledger, name) as (...given: unknown[]) => void;
      Reflect.set(ledger, name, (...given: unknown[]) => {
        const at = place === null ? performance.now() : (given[place] as number);
        // Before it too: what time alone had ended by then.
        see(at);
        change.apply(ledger, given);
        see(at);
      });
    }
    return super.add(target, kind, ledger);
  }

  /** Sees what time alone changed, too. */
  async during<T>(target: string, work: () => Promise<T>): Promise<Interval & { readonly result: T }> {
    let [min, max] = [Infinity, -Infinity];
    const ledgers = this.#ledgers.get(target) ?? new Map<Ledger, Interval>();
    const widen = (): void => {
      const all = [...ledgers.values()];
      min = Math.min(
        min,
        all.reduce((sum, one) => sum + one.min, 0),
      );
      max = Math.max(
        max,
        all.reduce((sum, one) => sum + one.max, 0),
      );
    };
    const seeAll = (): void => {
      for (const ledger of ledgers.keys()) ledgers.set(ledger, ledger.expectedAt(performance.now()));
      widen();
    };
    this.#watchers.add(widen);
    try {
      seeAll();
      const result = await work();
      seeAll();
      return { result, min, max };
    } finally {
      this.#watchers.delete(widen);
    }
  }
}

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
  const metrics = new WatchedMetrics('test');
  const stopping = new AbortController();
  const done = runLoad({
    targets: targets.map(({ target, probeDir }) => ({
      build: resolveTarget(target, {
        config: parseConfig(config, 'test.yaml'),
        allowHosts: [],
        headers: {},
        ...(probeDir !== undefined && { probeDir }),
      }),
      name: null,
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
    expectedDuring: (target, work) => metrics.during(target, work),
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
