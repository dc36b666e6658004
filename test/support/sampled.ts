/** A simulated run as Prometheus would hold it: sessions at exact times, seen through two scrapers out of step. */
import * as catalogue from '../../src/metrics/catalogue.ts';
import type { Metric } from '../../src/metrics/metric.ts';
import type { RunSeries } from '../../src/prometheus/read.ts';
import type { Series } from '../../src/prometheus/series.ts';

/** Seconds since the run began. */
export interface SimulatedSession {
  readonly opened: number;
  readonly deleted: number | null;
}

export interface Simulation {
  readonly sessions: readonly SimulatedSession[];
  /** Openings that are refused. */
  readonly refused: readonly number[];
  /** Whether the registry keeps the entry of a deleted session, by its number. */
  readonly keeps: (index: number) => boolean;
  /** Whether a refusal registers. */
  readonly registers: (index: number) => boolean;
  readonly interval: number;
  /** Of the server's scrapes against the load's, below the interval. */
  readonly offset: number;
  /** How long the load is still scraped after its last session, and the server. */
  readonly linger: number;
  /** The process is another one from then on; null: never. */
  readonly restartAt?: number;
}

/** Times far from zero, as they are. */
const EPOCH = 1_800_000_000;
/** Time that a server takes to discard what it was told to. */
const LAG = 0.05;
const BEFORE = 60;

const TARGET = { target: 'shop', build: 'b1' };
const LOAD = { job: 'load', instance: 'l:1', ...TARGET, case: 'delete', run: 'r' };
const SERVER = { job: 'exporter', instance: 'e:1', ...TARGET, worker: '7' };

const count = (times: readonly (number | null)[], t: number): number =>
  times.filter((time) => time !== null && time <= t).length;

export function sampled(given: Simulation): RunSeries {
  const { sessions, refused, interval, offset, linger } = given;
  const ends = [0, ...refused, ...sessions.flatMap(({ opened, deleted }) => [opened, deleted ?? opened])];
  const end = Math.max(...ends) + linger;
  const steps = (from: number, first: number): number[] =>
    Array.from(
      { length: Math.max(0, Math.ceil((end - from) / interval)) },
      (_, i) => first + i * interval,
    ).filter((t) => t >= from && t <= end);
  const series = (
    metric: Metric,
    labels: Readonly<Record<string, string>>,
    times: readonly number[],
    value: (t: number) => number,
  ): Series => ({
    labels: { __name__: metric.name, ...labels },
    times: times.map((t) => EPOCH + t),
    values: times.map(value),
  });
  const loadTimes = steps(0, 0.01);
  const opened = sessions.map((one) => one.opened);
  const deleted = sessions.map((one) => one.deleted);
  const live = (t: number): number => count(opened, t) - count(deleted, t);
  const load = [
    series(catalogue.clientOpened, LOAD, loadTimes, (t) => count(opened, t)),
    series(catalogue.clientDeleted, LOAD, loadTimes, (t) => count(deleted, t)),
    series(catalogue.clientAbandoned, LOAD, loadTimes, () => 0),
    series(catalogue.clientUncertain, LOAD, loadTimes, () => 0),
    series(catalogue.clientRefused, { ...LOAD, reason: 'rejected' }, loadTimes, (t) => count(refused, t)),
    series(catalogue.clientRequests, { ...LOAD, method: 'DELETE', status: '200' }, loadTimes, (t) =>
      count(deleted, t),
    ),
    ...(['min', 'max'] as const).map((bound) =>
      series(catalogue.clientExpected, { ...LOAD, bound }, loadTimes, live),
    ),
  ];
  return {
    load,
    servers: serversOf(given, steps(-BEFORE, -BEFORE + offset), series),
    longestScrape: 0.05,
    from: EPOCH - 300,
    to: EPOCH + end,
    cutAtStart: false,
  };
}

type MakeSeries = (
  metric: Metric,
  labels: Readonly<Record<string, string>>,
  times: readonly number[],
  value: (t: number) => number,
) => Series;

function serversOf(
  { sessions, refused, keeps, registers, restartAt = Infinity }: Simulation,
  times: readonly number[],
  series: MakeSeries,
): RunSeries['servers'] {
  const added = [...sessions.map((one) => one.opened - LAG), ...refused.filter((_, i) => registers(i))];
  const removed = sessions.map(({ deleted }, i) => (deleted === null || keeps(i) ? null : deleted + LAG));
  // What happened before a restart is not counted after it.
  const since = (t: number): number => (t >= restartAt ? restartAt : -Infinity);
  const of = (all: readonly (number | null)[], t: number): number => count(all, t) - count(all, since(t));
  const manager = { ...SERVER, manager: '0' };
  const values: [Metric, Readonly<Record<string, string>>, (t: number) => number][] = [
    [catalogue.sessionsRegistered, manager, (t) => of(added, t) - of(removed, t)],
    [catalogue.sessionsRegisteredAtStart, manager, () => 0],
    [catalogue.sessionRegistrations, manager, (t) => of(added, t)],
    [catalogue.sessionRemovals, manager, (t) => of(removed, t)],
    [catalogue.sessionExpirations, manager, () => 0],
    [catalogue.sessionRejections, manager, () => 0],
    [catalogue.sessionRemnants, manager, () => 0],
    [catalogue.sessionLimit, manager, () => 10_000],
    [catalogue.sessionIdleTimeout, manager, () => 1800],
    [catalogue.serverStartTime, SERVER, (t) => (t >= restartAt ? EPOCH + restartAt : EPOCH - 1000)],
    [catalogue.probeSupported, SERVER, () => 1],
  ];
  return new Map(
    values.map(([metric, labels, value]) => [metric.name, [series(metric, labels, times, value)]]),
  );
}
