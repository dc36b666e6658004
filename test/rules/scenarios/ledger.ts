/** Retention drift: registered sessions against the load side's ledger. */
import { sessionsRegistered } from '../../../src/metrics/catalogue.ts';
import { retentionDrift } from '../../../dashboards/rules/names.ts';
import type { Scenario } from '../support/scenario.ts';
import {
  gap,
  GONE,
  LOAD,
  ramp,
  SERVER,
  steady,
  surroundings,
  then,
  worker,
  world,
} from '../support/world.ts';

const registered = sessionsRegistered.name;
const drift = (value: number): { labels: string; value: number } => ({
  labels: `${retentionDrift.name}{build="${SERVER.build}",target="${SERVER.target}"}`,
  value,
});
const leaks = (minutes: number): Record<string, string> => ({ [registered]: steady(150, minutes) });
const interval = (values: string): { min: string; max: string } => ({ min: values, max: values });

const leaking: readonly Scenario[] = [
  {
    alert: 'McpRetentionDrift',
    title: '50 sessions more than the ledger allows',
    series: world(20, leaks(20)),
    at: 10,
    fires: [{ labels: SERVER, value: '50' }],
    expect: [{ expr: retentionDrift.name, samples: [drift(50)] }],
  },
  {
    alert: 'McpRetentionDrift',
    title: 'a leak goes on after a restart in mid-run',
    series: world(
      40,
      { [registered]: then(steady(150, 15), GONE, ramp(0, 2, 10), steady(80, 15)) },
      { expected: interval(then(steady(100, 15), steady(0, 25))) },
    ),
    at: 35,
    fires: [{ labels: SERVER, value: '80' }],
  },
  {
    alert: 'McpRetentionDrift',
    title: 'a target that died with its leak has not mended it',
    series: world(
      30,
      { [registered]: then(steady(150, 10), GONE) },
      { sessionsCollector: then(steady(1, 10), steady(0, 20)) },
    ),
    at: 20,
    fires: [{ labels: SERVER, value: '50' }],
    expect: [{ expr: retentionDrift.name, samples: [] }],
  },
  {
    alert: 'McpRetentionDrift',
    title: 'a scrape gap in mid-run does not end the alert',
    series: world(30, { [registered]: then(steady(150, 10), gap(4), steady(150, 16)) }),
    at: 13,
    fires: [{ labels: SERVER, value: '50' }],
  },
  {
    alert: 'McpRetentionDrift',
    title:
      'one of two workers cannot be read for longer than a drift is remembered: the other leaks all the same',
    series: [
      ...worker(60, { change: { [registered]: then(steady(20, 8), GONE) } }),
      ...worker(60, { worker: 'w2', change: { [registered]: steady(500, 60) } }),
      ...surroundings(60, { sessionsCollector: then(steady(1, 8), steady(0, 52)) }),
    ],
    at: 50,
    fires: [{ labels: SERVER, value: '400' }],
    expect: [{ expr: retentionDrift.name, samples: [drift(400)] }],
  },
  {
    alert: 'McpRetentionDrift',
    title: 'half of the workers cannot be read: the sum over the others is no drift at all',
    series: [
      ...worker(20, { change: { [registered]: then(steady(150, 8), GONE) } }),
      ...worker(20, { worker: 'w2', change: leaks(20) }),
      ...surroundings(20, {
        sessionsCollector: then(steady(1, 8), steady(0, 12)),
        expected: interval(steady(200, 20)),
      }),
    ],
    at: 15,
    fires: [{ labels: SERVER, value: '100' }],
    expect: [{ expr: retentionDrift.name, samples: [] }],
  },
];

/** Read every minute, in rules for 15 seconds. */
const eachMinute = (value: number, minutes: number): string =>
  Array.from({ length: minutes }, () => `${String(value)} _x3`).join(' ');

const unknown: readonly Scenario[] = [
  {
    alert: 'McpDriftUnknown',
    title: 'the load calls its target by another name than the exporter does',
    series: surroundings(20),
    at: 10,
    fires: [{ labels: { target: SERVER.target } }],
  },
  {
    alert: 'McpDriftUnknown',
    title: 'a leak that is scraped each minute, with rules for 15 seconds',
    series: world(30, { [registered]: eachMinute(500, 30) }, { expected: interval(eachMinute(0, 30)) }),
    at: 20,
    fires: [{ labels: { target: SERVER.target } }],
    expect: [{ expr: retentionDrift.name, samples: [] }],
  },
  { alert: 'McpDriftUnknown', title: 'a load and its target', series: world(30), at: 30, fires: [] },
  {
    alert: 'McpDriftUnknown',
    title: 'an exporter that is down, of which another alert tells',
    series: world(
      30,
      { [registered]: then(steady(100, 10), GONE) },
      { exporterUp: then(steady(1, 10), steady(0, 20)) },
    ),
    at: 24,
    fires: [],
  },
];

/** A second load on the same target, which has more there than the first one's ledger knows. */
const second = (minutes: number, seen: number): Scenario['series'] =>
  surroundings(minutes, {
    expected: interval(then(steady(60, seen), GONE)),
    loadUp: then(steady(1, seen), steady(0, minutes - seen)),
  })
    .filter(({ series }) => series.includes(LOAD.job))
    .map(({ series, values }) => ({ series: series.replace(LOAD.instance, 'load:9999'), values }));

const rightly: readonly Scenario[] = [
  {
    alert: 'McpRetentionDrift',
    title: 'as many as the ledger allows',
    series: world(30),
    at: 30,
    fires: [],
    expect: [{ expr: retentionDrift.name, samples: [drift(0)] }],
  },
  {
    alert: 'McpRetentionDrift',
    title: 'inside an interval that is wide because of what is uncertain',
    series: world(
      30,
      { [registered]: steady(120, 30) },
      { expected: { min: steady(100, 30), max: steady(130, 30) } },
    ),
    at: 30,
    fires: [],
    expect: [{ expr: retentionDrift.name, samples: [drift(0)] }],
  },
  {
    alert: 'McpRetentionDrift',
    title: 'a ramp, with the exporter read a scrape later than the load',
    series: world(30, { [registered]: ramp(20, 20, 30) }, { expected: interval(ramp(0, 20, 30)) }),
    at: 29,
    fires: [],
    expect: [{ expr: retentionDrift.name, samples: [drift(0)] }],
  },
  {
    alert: 'McpRetentionDrift',
    title: 'a restart in mid-run, of which the ledger learns two scrapes later',
    series: world(
      30,
      { [registered]: then(steady(100, 10), steady(0, 5), ramp(0, 1, 15)) },
      { expected: interval(then(steady(100, 10.5), steady(0, 4.5), ramp(0, 1, 15))) },
    ),
    at: 29,
    fires: [],
  },
  {
    alert: 'McpRetentionDrift',
    title: 'one of two loads is down, and what it holds is in no ledger',
    series: [...world(20, { [registered]: steady(160, 20) }), ...second(20, 8)],
    at: 20,
    fires: [],
    expect: [{ expr: retentionDrift.name, samples: [] }],
  },
  {
    alert: 'McpRetentionDrift',
    title: 'production, where there is no ledger',
    series: world(30, leaks(30), { expected: null }),
    at: 30,
    fires: [],
    expect: [{ expr: retentionDrift.name, samples: [] }],
  },
];

const lost: readonly Scenario[] = [
  {
    alert: 'McpSessionsLost',
    title: '30 sessions fewer than the ledger demands',
    series: world(20, { [registered]: steady(70, 20) }),
    at: 10,
    fires: [{ labels: SERVER, value: '-30' }],
  },
  {
    alert: 'McpSessionsLost',
    title: 'a falling population, with the exporter read a scrape earlier than the load',
    series: world(30, { [registered]: ramp(3000, -20, 30) }, { expected: interval(ramp(3020, -20, 30)) }),
    at: 29,
    fires: [],
  },
  {
    alert: 'McpSessionsLost',
    title: 'an exporter that is down takes sessions out of the sum, not out of the server',
    series: [
      ...worker(20, { change: { [registered]: then(steady(50, 10), GONE) } }),
      ...surroundings(20, {
        exporterUp: then(steady(1, 10), steady(0, 10)),
        expected: interval(steady(50, 20)),
      }),
    ],
    at: 19,
    fires: [],
  },
];

const absent: readonly Scenario[] = [
  {
    alert: 'McpLedgerAbsent',
    title: 'the load died',
    series: world(
      30,
      {},
      { expected: interval(then(steady(100, 10), GONE)), loadUp: then(steady(1, 10), steady(0, 20)) },
    ),
    at: 15,
    fires: [{ labels: { target: SERVER.target } }],
    expect: [{ expr: retentionDrift.name, samples: [] }],
  },
  {
    alert: 'McpLedgerAbsent',
    title: 'production, where there never was one',
    series: world(60, {}, { expected: null }),
    at: 60,
    fires: [],
  },
];

export const ledgerScenarios: readonly Scenario[] = [...leaking, ...unknown, ...rightly, ...lost, ...absent];
