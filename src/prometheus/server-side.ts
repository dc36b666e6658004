/** The exporter's series of one target: session managers and worker processes, as they were scraped. */
import * as catalogue from '../metrics/catalogue.ts';
import type { Metric } from '../metrics/metric.ts';
import { firstFrom, intervalOf, keyOf, lastAt, sum, timesOf, type Series } from './series.ts';

export type Count =
  'registered' | 'atStart' | 'registrations' | 'removals' | 'expirations' | 'rejections' | 'remnants';

const COUNTS: Readonly<Record<Count, Metric>> = {
  registered: catalogue.sessionsRegistered,
  atStart: catalogue.sessionsRegisteredAtStart,
  registrations: catalogue.sessionRegistrations,
  removals: catalogue.sessionRemovals,
  expirations: catalogue.sessionExpirations,
  rejections: catalogue.sessionRejections,
  remnants: catalogue.sessionRemnants,
};

/** One session manager. The series of one scrape have the same times. */
export interface Manager {
  readonly worker: string;
  readonly registered: Series;
  readonly counts: Readonly<Partial<Record<Count, Series>>>;
  /** null: no series says it. */
  readonly limit: number | null;
  readonly idleTimeout: number | null;
}

export interface Worker {
  readonly key: string;
  readonly started: Series;
  readonly memory: Series | null;
  readonly memoryLimit: Series | null;
  /** The probe said that it cannot read this SDK, at some time. */
  readonly unsupported: boolean;
}

/** The counts of every manager, each as scraped at or after one moment. */
export interface Reading {
  readonly until: number;
  readonly counts: Readonly<Record<Count, number>>;
}

/** So many scrapes before the run are looked at for one without sessions. */
const MOST_BACK = 20;

interface Between {
  readonly from: number;
  readonly first: number;
  readonly to: number;
}

/** Start times that differ by less are the same. */
const SAME_SECONDS = 0.05;

export class ServerSide {
  readonly managers: readonly Manager[];
  readonly workers: readonly Worker[];
  readonly builds: readonly string[];
  /** Name and version of the SDK, where the probe knows it. */
  readonly sdk: { readonly name: string; readonly version: string } | null;
  /** Usual distance between two scrapes in seconds; null where there are none. */
  readonly interval: number | null;
  readonly #collected: readonly Series[];

  constructor(target: string, servers: ReadonlyMap<string, readonly Series[]>) {
    const of = (metric: Metric): readonly Series[] =>
      (servers.get(metric.name) ?? []).filter(({ labels }) => labels.target === target);
    this.workers = workersOf(of);
    this.managers = managersOf(of);
    this.builds = [...new Set(this.managers.map(({ registered }) => registered.labels.build ?? ''))];
    this.interval = intervalOf(this.managers.map(({ registered }) => registered));
    this.sdk = sdkOf(of(catalogue.buildInfo));
    this.#collected = of(catalogue.collectorSuccess).filter(({ labels }) => labels.collector === 'sessions');
  }

  /** Every time at which a manager was read. */
  get times(): readonly number[] {
    return timesOf(this.managers.map(({ registered }) => registered));
  }

  /** Each manager's first counts at or after `t`; null where one was not read any more. */
  readingFrom(t: number): Reading | null {
    const counts: Record<Count, number> = { ...NONE };
    let until = t;
    for (const manager of this.managers) {
      const i = firstFrom(manager.registered, t);
      const at = manager.registered.times[i];
      if (at === undefined) return null;
      until = Math.max(until, at);
      for (const name of Object.keys(COUNTS) as Count[]) counts[name] += valueAt(manager.counts[name], at);
    }
    return this.managers.length === 0 ? null : { until, counts };
  }

  /**
   * What the managers had counted before the run: at the last moment until `t` at which they held nothing, else as
   * read last until `t`. The load side's own first look, which it does not count, may be open at that. A manager that
   * surely was not there yet had counted 0. null: for at least one it is not known.
   */
  baselineAt(t: number): Readonly<Record<Count, number>> | null {
    const last = this.#countsBy(t);
    if (last === null || last.registered === 0) return last;
    const moments = this.times.filter((time) => time <= t).slice(-MOST_BACK);
    const empty = moments.map((time) => this.#countsBy(time)).findLast((counts) => counts?.registered === 0);
    return empty ?? last;
  }

  #countsBy(t: number): Readonly<Record<Count, number>> | null {
    const counts: Record<Count, number> = { ...NONE };
    for (const manager of this.managers) {
      const at = manager.registered.times[lastAt(manager.registered, t)];
      if (at === undefined) {
        if (!this.#beganLater(manager, t)) return null;
        continue;
      }
      for (const name of Object.keys(COUNTS) as Count[]) counts[name] += valueAt(manager.counts[name], at);
    }
    return counts;
  }

  /** Its worker was read before without it, or its first reading shows that nothing had happened yet. */
  #beganLater({ worker, counts, registered }: Manager, t: number): boolean {
    const started = this.workers.find(({ key }) => key === worker)?.started;
    if (started !== undefined && lastAt(started, t) >= 0) return true;
    const first = registered.times[0] ?? 0;
    return valueAt(counts.registrations, first) === 0 && valueAt(counts.atStart, first) === 0;
  }

  /**
   * When, between two moments, a worker first came, went or was another than before, and why; null: never.
   * @param from surely before the run's beginning
   * @param first surely after it: what started in between may have been there from the beginning
   * @param to the end of what is judged
   */
  changeBetween(
    from: number,
    first: number,
    to: number,
  ): { readonly at: number; readonly reason: string } | null {
    const changes = this.workers.flatMap((worker) => this.#changesOf(worker, { from, first, to }));
    return changes.sort((a, b) => a.at - b.at)[0] ?? null;
  }

  #changesOf({ started }: Worker, { from, first, to }: Between): { at: number; reason: string }[] {
    const { times, values } = started;
    const [began = 0, last = 0] = [values[0], times.at(-1)];
    const restart = values.findIndex(
      (value, i) => i > 0 && Math.abs(value - (values[i - 1] ?? value)) > SAME_SECONDS,
    );
    if (restart > 0 && (times[restart] ?? 0) > from)
      return [{ at: times[restart - 1] ?? from, reason: 'a worker was restarted' }];
    if (began > first) return [{ at: began, reason: 'a worker was started' }];
    const missed = 2.5 * (this.interval ?? Infinity);
    if (last >= from && last < to - missed)
      return [
        {
          at: last,
          reason: this.#failedAfter(last)
            ? 'a worker was no longer to be read'
            : 'a worker was gone, or no longer scraped',
        },
      ];
    return [];
  }

  #failedAfter(t: number): boolean {
    return this.#collected.some(({ times, values }) =>
      values.some((value, i) => value === 0 && (times[i] ?? 0) > t),
    );
  }

  /** Readings of a manager at which the registry held other than what was registered less what was removed. */
  identity(from: number, to: number): { readonly readings: number; readonly broken: readonly number[] } {
    const broken: number[] = [];
    let readings = 0;
    for (const { registered, counts } of this.managers)
      for (const [i, at] of registered.times.entries()) {
        if (at < from || at > to || !hasAt(counts.registrations, at) || !hasAt(counts.removals, at)) continue;
        readings++;
        const accounted =
          valueAt(counts.atStart, at) + valueAt(counts.registrations, at) - valueAt(counts.removals, at);
        const drift = (registered.values[i] ?? 0) - accounted;
        if (drift !== 0) broken.push(drift);
      }
    return { readings, broken };
  }

  /** The most that one manager had, and its cap, of the manager that came closest to it; null where none has a cap. */
  fullest(
    from: number,
    to: number,
  ): { readonly most: number; readonly limit: number; readonly refused: number } | null {
    const capped = this.managers.flatMap(({ registered, counts, limit }) => {
      if (limit === null) return [];
      const inside = registered.values.filter((_, i) => isWithin(registered.times[i], from, to));
      const rejections = counts.rejections?.values.filter((_, i) =>
        isWithin(counts.rejections?.times[i], from, to),
      );
      const refused = (rejections?.at(-1) ?? 0) - (rejections?.[0] ?? 0);
      return [{ most: Math.max(0, ...inside), limit, refused }];
    });
    return capped.sort((a, b) => b.most / b.limit - a.most / a.limit)[0] ?? null;
  }

  /** The longest idle timeout in force; null where a manager has none. */
  get idleTimeout(): number | null {
    const known = this.managers.map(({ idleTimeout }) => idleTimeout).filter((value) => value !== null);
    return known.length === 0 || known.length < this.managers.length ? null : Math.max(...known);
  }

  /** Sum of the caps; null where a manager has none. */
  get limit(): number | null {
    const known = this.managers.map(({ limit }) => limit).filter((value) => value !== null);
    return known.length === 0 || known.length < this.managers.length ? null : sum(known);
  }
}

const NONE: Readonly<Record<Count, number>> = {
  registered: 0,
  atStart: 0,
  registrations: 0,
  removals: 0,
  expirations: 0,
  rejections: 0,
  remnants: 0,
};

const isWithin = (t: number | undefined, from: number, to: number): boolean =>
  t !== undefined && t >= from && t <= to;

/** The value of the scrape at exactly this time. */
function valueAt(series: Series | undefined, at: number): number {
  return series === undefined ? 0 : (series.values[lastAt(series, at)] ?? 0);
}

const hasAt = (series: Series | undefined, at: number): boolean =>
  series !== undefined && series.times[lastAt(series, at)] === at;

type Of = (metric: Metric) => readonly Series[];

const byKey = (series: readonly Series[], ...without: readonly string[]): ReadonlyMap<string, Series> =>
  new Map(series.map((one) => [keyOf(one.labels, ...without), one]));

function managersOf(of: Of): Manager[] {
  const found = Object.fromEntries(
    Object.entries(COUNTS).map(([name, metric]) => [name, byKey(of(metric))]),
  ) as Record<Count, ReadonlyMap<string, Series>>;
  const [limits, timeouts] = [byKey(of(catalogue.sessionLimit)), byKey(of(catalogue.sessionIdleTimeout))];
  return of(catalogue.sessionsRegistered).map((registered) => {
    const key = keyOf(registered.labels);
    const counts = Object.fromEntries(
      (Object.keys(COUNTS) as Count[]).flatMap((name) => {
        const series = found[name].get(key);
        return series === undefined ? [] : [[name, series]];
      }),
    ) as Partial<Record<Count, Series>>;
    return {
      worker: keyOf(registered.labels, 'manager'),
      registered,
      counts,
      limit: limits.get(key)?.values.at(-1) ?? null,
      idleTimeout: timeouts.get(key)?.values.at(-1) ?? null,
    };
  });
}

function workersOf(of: Of): Worker[] {
  const memory = byKey(of(catalogue.serverResidentMemory));
  const limits = byKey(of(catalogue.serverMemoryLimit));
  const supported = byKey(of(catalogue.probeSupported));
  return of(catalogue.serverStartTime).map((started) => {
    const key = keyOf(started.labels);
    return {
      key,
      started,
      memory: memory.get(key) ?? null,
      memoryLimit: limits.get(key) ?? null,
      unsupported: supported.get(key)?.values.includes(0) === true,
    };
  });
}

function sdkOf(infos: readonly Series[]): ServerSide['sdk'] {
  const { sdk, version } = infos.at(-1)?.labels ?? {};
  return sdk === undefined || sdk === 'unknown' ? null : { name: sdk, version: version ?? 'unknown' };
}
