/** Series for promtool: a healthy world of servers, exporter and load, and what a scenario changes in it. */
import * as catalogue from '../../../src/metrics/catalogue.ts';
import type { Metric } from '../../../src/metrics/metric.ts';

/** Samples every 15 s, in promtool's notation. */
export const STEP_SECONDS = 15;

/** n steps of a constant. */
export const steady = (value: number, minutes: number): string => `${String(value)}x${steps(minutes)}`;
/** Grows by `step` with each sample. */
export const ramp = (from: number, step: number, minutes: number): string =>
  `${String(from)}${step < 0 ? '-' : '+'}${String(Math.abs(step))}x${steps(minutes)}`;
/** No scrape at all: n repetitions of nothing are n, not one more. */
export const gap = (minutes: number): string => `_x${String(Math.round((minutes * 60) / STEP_SECONDS))}`;
/** What Prometheus writes when a series is no longer there. */
export const GONE = 'stale';
export const then = (...parts: readonly string[]): string => parts.join(' ');

/** A value of n repetitions yields n + 1 samples. */
const steps = (minutes: number): string => String(Math.round((minutes * 60) / STEP_SECONDS) - 1);

export interface Input {
  readonly series: string;
  readonly values: string;
}

export const input = (name: string, labels: Readonly<Record<string, string>>, values: string): Input => ({
  series: `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    .join(',')}}`,
  values,
});

export const EXPORTER = { job: 'exporter', instance: 'exporter:9464' } as const;
export const LOAD = { job: 'load', instance: 'load:9465' } as const;
export const SERVER = { target: 'shop', build: 'python:mcp@1.30.0' } as const;

export interface Worker {
  readonly worker?: string;
  /** Series by metric name, in place of the healthy ones; null leaves a series out. */
  readonly change?: Readonly<Record<string, string | null>>;
}

/** Labels of what a session manager of that worker exports. */
export const managerOf = (worker = 'w1'): Record<string, string> => ({
  ...EXPORTER,
  ...SERVER,
  worker,
  manager: 'm0',
});
export const workerOf = (worker = 'w1'): Record<string, string> => ({ ...EXPORTER, ...SERVER, worker });

/** Values that come again and again, one each scrape. */
export const cycle = (values: readonly number[], minutes: number): string =>
  Array.from({ length: (minutes * 60) / STEP_SECONDS }, (_, index) => values[index % values.length]).join(
    ' ',
  );

/** A worker with 100 sessions of which some are deleted, some expire and none is left over. */
export function worker(minutes: number, { worker: name = 'w1', change = {} }: Worker = {}): Input[] {
  const healthy: [Metric, string][] = [
    [catalogue.sessionsRegistered, steady(100, minutes)],
    [catalogue.sessionsRegisteredAtStart, steady(0, minutes)],
    [catalogue.sessionRegistrations, ramp(100, 5, minutes)],
    [catalogue.sessionRemovals, ramp(0, 5, minutes)],
    [catalogue.sessionExpirations, ramp(0, 1, minutes)],
    [catalogue.sessionRejections, steady(0, minutes)],
    [catalogue.sessionRemnants, steady(0, minutes)],
    [catalogue.sessionOldestIdle, steady(900, minutes)],
    [catalogue.sessionLimit, steady(500, minutes)],
    [catalogue.sessionIdleTimeout, steady(1800, minutes)],
    [catalogue.serverStartTime, steady(-86400, minutes)],
    [catalogue.probeSupported, steady(1, minutes)],
    [catalogue.serverResidentMemory, steady(200 * 2 ** 20, minutes)],
    [catalogue.serverMemoryLimit, steady(512 * 2 ** 20, minutes)],
  ];
  return healthy.flatMap(([metric, values]) => {
    const wanted = metric.name in change ? change[metric.name] : values;
    if (wanted === null || wanted === undefined) return [];
    const labels = metric.labels.includes('manager') ? managerOf(name) : workerOf(name);
    return [input(metric.name, labels, wanted)];
  });
}

export interface Surroundings {
  readonly exporterUp?: string;
  readonly sessionsCollector?: string | null;
  readonly loadUp?: string;
  /** The ledger's interval; null where no load runs, as in production. */
  readonly expected?: { readonly min: string; readonly max: string } | null;
}

/** Exporter and load as Prometheus sees them. */
export function surroundings(minutes: number, given: Surroundings = {}): Input[] {
  const one = steady(1, minutes);
  const expected = given.expected === undefined ? healthyLedger(minutes) : given.expected;
  const collector = (name: string, values: string): Input =>
    input(catalogue.collectorSuccess.name, { ...EXPORTER, target: SERVER.target, collector: name }, values);
  const ledger = (bound: 'min' | 'max', values: string): Input =>
    input(catalogue.clientExpected.name, { ...LOAD, ...SERVER, case: 'mixed', run: 'r1', bound }, values);
  return [
    input('up', EXPORTER, given.exporterUp ?? one),
    collector('memory', one),
    ...(given.sessionsCollector === null ? [] : [collector('sessions', given.sessionsCollector ?? one)]),
    ...(expected === null
      ? []
      : [input('up', LOAD, given.loadUp ?? one), ledger('min', expected.min), ledger('max', expected.max)]),
  ];
}

const healthyLedger = (minutes: number): { min: string; max: string } => ({
  min: steady(100, minutes),
  max: steady(100, minutes),
});

/** One healthy worker with its surroundings, but for what is changed. */
export const world = (minutes: number, change: Worker['change'] = {}, around: Surroundings = {}): Input[] => [
  ...worker(minutes, { change }),
  ...surroundings(minutes, around),
];
