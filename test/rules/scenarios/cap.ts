/** The cap on sessions, which is each manager's own. */
import * as catalogue from '../../../src/metrics/catalogue.ts';
import type { Scenario } from '../support/scenario.ts';
import {
  cycle,
  EXPORTER,
  managerOf,
  ramp,
  SERVER,
  steady,
  surroundings,
  then,
  worker,
  world,
} from '../support/world.ts';

const registered = catalogue.sessionsRegistered.name;
const rejections = catalogue.sessionRejections.name;
const limit = catalogue.sessionLimit.name;

/** Two workers with 500 places each, of which the second is filled as said. Half-empty together. */
const twoWorkers = (minutes: number, second: string): Scenario['series'] => [
  ...worker(minutes, { change: { [registered]: steady(10, minutes) } }),
  ...worker(minutes, { worker: 'w2', change: { [registered]: second } }),
  ...surroundings(minutes, { expected: null }),
];

export const capScenarios: readonly Scenario[] = [
  {
    alert: 'McpSessionCapNear',
    title: 'one of two workers is at 90 %',
    series: twoWorkers(10, steady(450, 10)),
    at: 8,
    fires: [{ labels: managerOf('w2'), value: '90%' }],
  },
  {
    alert: 'McpSessionCapNear',
    title: 'both are at 70 %, and a peak of two minutes',
    series: world(20, { [registered]: then(steady(350, 10), steady(450, 2), steady(350, 8)) }),
    at: 20,
    fires: [],
  },
  {
    alert: 'McpSessionCapNear',
    title: 'many sessions on a server without a cap',
    series: world(20, { [registered]: steady(5000, 20), [limit]: null }),
    at: 20,
    fires: [],
  },
  {
    alert: 'McpSessionCapNear',
    title: 'full, which is no end of it',
    series: world(20, { [registered]: steady(500, 20) }),
    at: 20,
    fires: [{ labels: managerOf(), value: '100%' }],
  },
  {
    alert: 'McpSessionCapNear',
    title: 'it swings about its cap',
    // At its mean where a window may begin and end: that is then the same, whichever it includes.
    series: world(20, {
      [registered]: then(
        cycle([496, 500], 14.5),
        steady(498, 1),
        cycle([496, 500], 2),
        '498',
        cycle([496, 500], 2),
        steady(498, 2),
      ),
    }),
    at: 20,
    fires: [{ labels: managerOf(), value: '99.6%' }],
  },
  {
    alert: 'McpSessionCapReached',
    title: 'it swings about its cap: places come free and are taken again',
    series: world(30, { [registered]: cycle([500, 500, 500, 496, 496, 496], 30) }),
    at: 25,
    fires: [{ labels: managerOf(), value: '100%' }],
  },
  {
    alert: 'McpSessionCapReached',
    title: 'no scrape meets it full, and each minute it refuses somebody',
    series: world(20, { [registered]: steady(485, 20), [rejections]: ramp(0, 0.25, 20) }),
    at: 15,
    fires: [{ labels: managerOf(), value: '97%' }],
  },
  {
    alert: 'McpSessionCapReached',
    title: 'full for one scrape, in which one opening was refused',
    series: world(20, {
      [registered]: then(steady(450, 10), '500', steady(450, 9)),
      [rejections]: then(steady(0, 10), steady(1, 10)),
    }),
    at: 20,
    fires: [],
  },
  {
    alert: 'McpSessionCapReached',
    title: 'one of two workers is at its cap',
    series: twoWorkers(10, steady(500, 10)),
    at: 5,
    fires: [{ labels: managerOf('w2'), value: '100%' }],
  },
  {
    alert: 'McpSessionCapReached',
    title: 'one place is left',
    series: twoWorkers(10, steady(499, 10)),
    at: 10,
    fires: [],
  },
  {
    alert: 'McpSessionsRejected',
    title: 'half of the openings are refused',
    series: world(20, { [rejections]: ramp(0, 5, 20) }),
    at: 15,
    fires: [{ labels: { job: EXPORTER.job, ...SERVER }, value: '50%' }],
  },
  {
    alert: 'McpSessionsRejected',
    title: 'one of 400 openings is refused',
    series: world(20, { [rejections]: then(steady(0, 10), steady(1, 10)) }),
    at: 20,
    fires: [],
  },
  {
    alert: 'McpSessionsRejected',
    title: 'one of 200 openings is refused all the time',
    series: world(20, { [rejections]: ramp(0, 0.025, 20) }),
    at: 20,
    fires: [],
  },
  {
    alert: 'McpSessionsRejected',
    title: 'nobody comes at all',
    series: world(20, { [catalogue.sessionRegistrations.name]: steady(100, 20) }),
    at: 20,
    fires: [],
  },
];
