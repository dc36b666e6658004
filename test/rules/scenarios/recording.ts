/** What the recording rules compute, and that k6's names lead to the same. */
import * as catalogue from '../../../src/metrics/catalogue.ts';
import { k6Names } from '../../../src/metrics/k6.ts';
import * as names from '../../../dashboards/rules/names.ts';
import { expressionTest, type Expectation, type ScenarioTest } from '../support/scenario.ts';
import {
  EXPORTER,
  gap,
  GONE,
  input,
  managerOf,
  ramp,
  SERVER,
  steady,
  surroundings,
  then,
  worker,
  workerOf,
  world,
  type Input,
} from '../support/world.ts';

const MIB = 2 ** 20;

/** A series as promtool writes it, labels in order. */
const text = (name: string, labels: Readonly<Record<string, string>>): string =>
  `${name}{${Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;
const one = (
  series: { readonly name: string },
  labels: Readonly<Record<string, string>>,
  value: number,
): Expectation => ({ expr: series.name, samples: [{ labels: text(series.name, labels), value }] });
const rounded = (
  series: { readonly name: string },
  digits: number,
  value: number,
  labels: object,
): Expectation => ({
  expr: `round(${series.name}, ${String(digits)})`,
  samples: [{ labels: text('', { ...labels }), value }],
});

const test = (
  name: string,
  at: number,
  series: readonly Input[],
  expectations: readonly Expectation[],
): ScenarioTest => ({
  interval: '15s',
  name,
  input_series: series,
  promql_expr_test: expectations.map((expectation) => expressionTest(expectation, at)),
});

const target = { job: EXPORTER.job, ...SERVER };
const byTarget = { target: SERVER.target };

const servers: readonly ScenarioTest[] = [
  test(
    'a worker that gains 4 sessions a minute, 1 MiB a session',
    30,
    world(40, {
      [catalogue.sessionsRegistered.name]: ramp(0, 1, 40),
      [catalogue.serverResidentMemory.name]: ramp(100 * MIB, MIB, 40),
    }),
    [
      rounded(names.growthPerMinute, 0.001, 4, managerOf()),
      // At 30 minutes 120 of 500 are registered: 380 are left.
      rounded(names.timeToCap, 0.1, (380 / 4) * 60, managerOf()),
      rounded(names.timeToCapMin, 0.1, (380 / 4) * 60, target),
      rounded(names.bytesPerSession, 1, MIB, workerOf()),
      // 220 MiB now and 380 more, of 512.
      rounded(names.memoryAtCap, 0.0001, 1.1719, workerOf()),
    ],
  ),
  test(
    'the fullest of two workers decides',
    10,
    [
      ...worker(20, { change: { [catalogue.sessionsRegistered.name]: steady(10, 20) } }),
      ...worker(20, { worker: 'w2', change: { [catalogue.sessionsRegistered.name]: steady(400, 20) } }),
      ...surroundings(20),
    ],
    [
      one(names.capUseMax, target, 0.8),
      one(names.targetRegistered, target, 410),
      { expr: names.timeToCapMin.name, samples: [] },
      { expr: names.bytesPerSession.name, samples: [] },
    ],
  ),
  test(
    'shares and expected population',
    20,
    world(30, {
      [catalogue.sessionRejections.name]: ramp(0, 15, 30),
    }),
    [
      rounded(names.expirationShare, 0.001, 0.2, target),
      rounded(names.rejectionShare, 0.001, 0.75, target),
      // 5 arrivals in 15 s, 1800 s each.
      rounded(names.expectedPopulation, 0.1, 600, target),
    ],
  ),
  test(
    'a part of a target that cannot be read is marked',
    20,
    world(
      30,
      {},
      {
        exporterUp: then(steady(1, 10), steady(0, 20)),
      },
    ),
    [one(names.unobserved, byTarget, 1)],
  ),
  test(
    'the first two scrapes say nothing of drift: they may be of different instants',
    0.25,
    world(30, { [catalogue.sessionsRegistered.name]: steady(150, 30) }),
    [{ expr: names.retentionDrift.name, samples: [] }],
  ),
  test('nothing is marked where all is read', 20, world(30), [{ expr: names.unobserved.name, samples: [] }]),
];

const RUN = { ...SERVER, case: 'delete', run: 'r1' };
const tags = { scenario: 'default', testid: 'x' };
const k6 = (which: 0 | 1): Input[] => {
  const counter = (metric: (typeof catalogue)['clientOpened'], values: string, labels = {}): Input =>
    input(k6Names(metric)[which], { ...RUN, ...tags, ...labels }, values);
  return [
    counter(catalogue.clientOpened, ramp(0, 3, 60)),
    counter(catalogue.clientOpened, ramp(0, 3, 60), { scenario: 'second' }),
    counter(catalogue.clientDeleted, ramp(0, 4, 60)),
    counter(catalogue.clientAbandoned, ramp(0, 1, 60)),
    counter(catalogue.clientUncertain, steady(2, 60)),
  ];
};

/** At 40 minutes: 960 opened, 640 deleted, and of the abandoned the 40 of the first ten minutes are overdue. */
const expected = (bound: string, value: number): { labels: string; value: number } => ({
  labels: text(catalogue.clientExpected.name, { ...RUN, bound }),
  value,
});

const loads: readonly ScenarioTest[] = ([0, 1] as const).map((which) =>
  test(
    `k6's counters ${k6Names(catalogue.clientOpened)[which]}, …`,
    40,
    [...k6(which), ...world(60, {}, { expected: null })],
    [
      one(catalogue.clientOpened, RUN, 960),
      one(catalogue.clientDeleted, RUN, 640),
      { expr: catalogue.clientExpected.name, samples: [expected('max', 282), expected('min', 278)] },
      {
        expr: `${names.retentionDrift.name} < bool -100`,
        samples: [{ labels: text('', SERVER), value: 1 }],
      },
    ],
  ),
);

/** Some scripts delete at their end what they had abandoned: that is in two counters, and one session. */
const cleanedUp = test(
  'what k6 abandoned and deleted counts once, and a counter that rests is not gone',
  45,
  [
    input(k6Names(catalogue.clientOpened)[1], { ...RUN, ...tags }, then(ramp(0, 4, 10), gap(50))),
    input(k6Names(catalogue.clientAbandoned)[1], { ...RUN, ...tags }, then(ramp(0, 4, 10), gap(50))),
    input(k6Names(catalogue.clientDeleted)[1], { ...RUN, ...tags }, then(gap(10), '156', gap(49))),
    ...world(60, { [catalogue.sessionsRegistered.name]: steady(0, 60) }, { expected: null }),
  ],
  [
    one(catalogue.clientUncertain, RUN, 0),
    { expr: catalogue.clientExpected.name, samples: [expected('max', 0), expected('min', 0)] },
    one(names.retentionDrift, SERVER, 0),
  ],
);

const restarted = test(
  'k6 does not count anew with its target: nothing is expected after a restart',
  40,
  [
    ...k6(0),
    ...world(
      60,
      { [catalogue.serverStartTime.name]: then(steady(-900, 20), steady(1200, 40)) },
      { expected: null },
    ),
  ],
  [{ expr: catalogue.clientExpected.name, samples: [] }],
);

const missed = test(
  'a scrape that missed the youngest worker is no restart',
  40,
  [
    ...k6(0),
    ...world(60, {}, { expected: null }),
    ...worker(60, {
      worker: 'w2',
      change: { [catalogue.serverStartTime.name]: then(steady(-900, 20), GONE, steady(-900, 39)) },
    }),
  ],
  [{ expr: catalogue.clientExpected.name, samples: [expected('max', 282), expected('min', 278)] }],
);

export const recordingTests: readonly ScenarioTest[] = [...servers, ...loads, cleanedUp, restarted, missed];
