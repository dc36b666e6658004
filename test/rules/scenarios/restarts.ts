/** Starts of workers: deployments, changes of scale and missed scrapes against crash loops. */
import { serverStartTime } from '../../../src/metrics/catalogue.ts';
import type { Scenario } from '../support/scenario.ts';
import {
  EXPORTER,
  gap,
  GONE,
  input,
  SERVER,
  steady,
  STEP_SECONDS,
  surroundings,
  then,
  worker,
  workerOf,
  type Input,
} from '../support/world.ts';

const startTime = serverStartTime.name;
const DAY = 86_400;
const STEP_MINUTES = STEP_SECONDS / 60;

const fires = (starts: number): Scenario['fires'] => [
  { labels: { job: EXPORTER.job, ...SERVER }, value: String(starts) },
];
const worker2 = (start: string, name = 'w1'): Scenario['series'] =>
  worker(60, { worker: name, change: { [startTime]: start } });

/** Start times of process 1 in a pod that has an exporter of its own. */
const pod = (name: string, values: string): Input =>
  input(startTime, { ...workerOf('1'), instance: `${name}:9464` }, values);
/** The process of a pod that was started `order` seconds after others, a day ago. */
const old = (order: number, minutes: number): string => steady(order - DAY, minutes);
/** It is there from that minute on, and was started then. */
const since = (minute: number, until: number): string => steady(60 * minute, until - minute);
const numbered = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** One process after another from the start on, each dying after so many minutes and started at once. */
const crashLoop = (every: number, minutes: number): string =>
  then(
    ...numbered(minutes / every, (round) =>
      then(since(every * round, every * (round + 1) - STEP_MINUTES), GONE),
    ),
  );

const guilty: readonly Scenario[] = [
  {
    alert: 'McpServerRestarts',
    title: 'started three times, each time under another worker name',
    series: [
      ...worker2(then(steady(-900, 10), GONE), '7'),
      ...worker2(then(gap(10), steady(600, 5), GONE), '8'),
      ...worker2(then(gap(16), steady(960, 44)), '9'),
      ...surroundings(60),
    ],
    at: 20,
    fires: fires(2),
  },
  {
    alert: 'McpServerRestarts',
    title: 'the second of two restarts is hidden behind a scrape gap of ten minutes',
    series: [
      ...worker2(then(steady(-900, 5), steady(300, 5), gap(10), steady(1100, 40))),
      ...surroundings(60),
    ],
    at: 25,
    fires: fires(2),
  },
  {
    alert: 'McpServerRestarts',
    title: 'one of eight pods is killed every twelve minutes',
    series: [
      ...numbered(7, (index) => pod(`shop-${String(index)}`, old(index, 60))),
      pod('shop-7', crashLoop(12, 60)),
    ],
    at: 59,
    fires: fires(2),
  },
  {
    alert: 'McpServerRestarts',
    title: 'one of twenty workers of a host is killed every four minutes, and has another number each time',
    series: [
      ...numbered(19, (index) => input(startTime, workerOf(String(100 + index)), old(index, 60))),
      ...numbered(15, (round) =>
        input(
          startTime,
          workerOf(String(200 + round)),
          then(...(round === 0 ? [] : [gap(4 * round)]), since(4 * round, 4 * round + 3.75), GONE),
        ),
      ),
    ],
    at: 59,
    fires: fires(7),
  },
  {
    alert: 'McpServerRestarts',
    title: 'a pod that is killed every nine minutes, while half of the fleet is scaled away',
    series: [
      ...numbered(4, (index) => pod(`shop-${String(index)}`, old(index, 60))),
      ...numbered(5, (index) => pod(`shop-${String(4 + index)}`, then(old(4 + index, 35 + index), GONE))),
      pod('shop-9', crashLoop(9, 54)),
    ],
    at: 44,
    fires: fires(3),
  },
];

const innocent: readonly Scenario[] = [
  {
    alert: 'McpServerRestarts',
    title: 'a deployment that starts two workers one after the other',
    series: [
      ...worker2(then(steady(-DAY, 10), steady(600, 50))),
      ...worker2(then(steady(-DAY, 12), steady(720, 48)), 'w2'),
      ...surroundings(60),
    ],
    at: 60,
    fires: [],
  },
  {
    alert: 'McpServerRestarts',
    title: 'four pods are scaled down to one, youngest first: nothing was started',
    series: numbered(4, (index) =>
      pod(`shop-${String(index)}`, index === 0 ? old(0, 60) : then(old(index, 20 - 4 * index), GONE)),
    ),
    at: 60,
    fires: [],
  },
  {
    alert: 'McpServerRestarts',
    title: 'one pod becomes four for five minutes',
    series: numbered(4, (index) =>
      pod(`shop-${String(index)}`, index === 0 ? old(0, 60) : then(gap(10), since(10, 15), GONE)),
    ),
    at: 60,
    fires: [],
  },
  {
    alert: 'McpServerRestarts',
    title: 'a rolling restart that begins with the youngest, as a StatefulSet does',
    series: numbered(3, (index) => {
      const away = 20 - 3 * index;
      return pod(`shop-${String(index)}`, then(old(index, away), GONE, gap(1), since(away + 1.25, 60)));
    }),
    at: 60,
    fires: [],
  },
  {
    alert: 'McpServerRestarts',
    title:
      'a rolling restart with pods of new names, of which one more than before is there, as a Deployment does',
    series: numbered(4, (index) => [
      pod(`old-${String(index)}`, then(old(index, 11 + 2 * index), GONE)),
      pod(`new-${String(index)}`, then(gap(10 + 2 * index), since(10 + 2 * index, 60))),
    ]).flat(),
    at: 60,
    fires: [],
  },
  {
    alert: 'McpServerRestarts',
    title: 'scrapes that missed the youngest of three pods twice',
    series: [
      pod('shop-0', old(0, 60)),
      pod('shop-1', old(1, 60)),
      pod('shop-2', then(old(2, 10), GONE, old(2, 10), GONE, old(2, 39))),
    ],
    at: 60,
    fires: [],
  },
  {
    alert: 'McpServerRestarts',
    title: 'a new fleet of three that nobody knew before, and a fourth soon after',
    series: [
      ...numbered(3, (index) => pod(`shop-${String(index)}`, steady(-60 * index, 60))),
      pod('shop-3', then(gap(10), since(10, 60))),
    ],
    at: 60,
    fires: [],
  },
];

export const restartScenarios: readonly Scenario[] = [...guilty, ...innocent];
