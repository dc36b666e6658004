/** Server processes: memory, and whether they can be seen at all. */
import * as catalogue from '../../../src/metrics/catalogue.ts';
import { memoryAtCap, memoryAtCapTogether } from '../../../dashboards/rules/names.ts';
import type { Scenario } from '../support/scenario.ts';
import {
  EXPORTER,
  gap,
  GONE,
  input,
  LOAD,
  ramp,
  SERVER,
  steady,
  surroundings,
  then,
  worker,
  workerOf,
  world,
} from '../support/world.ts';

const registered = catalogue.sessionsRegistered.name;
const memory = catalogue.serverResidentMemory.name;
const MIB = 2 ** 20;

/** Two MiB for each of the first sessions: what is loaded late, not what they cost. */
const warm = then(ramp(60 * MIB, 2 * MIB, 10), steady(140 * MIB, 110));

const memories: readonly Scenario[] = [
  {
    alert: 'McpMemoryGrowsWithoutSessions',
    title: 'a MiB more every minute, with as many sessions as ever',
    series: world(180, { [memory]: ramp(100 * MIB, 0.25 * MIB, 180) }),
    at: 150,
    fires: [{ labels: workerOf(), value: '60Mi' }],
  },
  {
    alert: 'McpMemoryGrowsWithoutSessions',
    title: 'memory that grows with its sessions',
    series: world(180, { [memory]: ramp(100 * MIB, 0.25 * MIB, 180), [registered]: ramp(100, 5, 180) }),
    at: 180,
    fires: [],
  },
  {
    alert: 'McpMemoryGrowsWithoutSessions',
    title: 'a few MiB an hour, as allocators do',
    series: world(180, { [memory]: ramp(100 * MIB, 0.05 * MIB, 180) }),
    at: 180,
    fires: [],
  },
  {
    alert: 'McpMemoryGrowsWithoutSessions',
    title: '20 MiB more every ten minutes, as an allocator takes its arenas',
    series: world(180, {
      [memory]: then(...Array.from({ length: 18 }, (_, index) => steady((100 + 20 * index) * MIB, 10))),
    }),
    at: 155,
    fires: [{ labels: workerOf(), value: '120Mi' }],
  },
  {
    alert: 'McpMemoryGrowsWithoutSessions',
    title: 'a single step: something was loaded late',
    series: world(360, { [memory]: then(steady(100 * MIB, 180), steady(160 * MIB, 180)) }),
    at: 360,
    fires: [],
  },
];

/** A server of the same name behind another exporter. */
const elsewhere = (minutes: number, sessions: string, exporterUp: string): Scenario['series'] =>
  [...worker(minutes, { change: { [registered]: sessions } }), input('up', EXPORTER, exporterUp)]
    .filter(({ series }) => series.startsWith(registered) || series.startsWith('up'))
    .map(({ series, values }) => ({ series: series.replace(EXPORTER.instance, 'other:9464'), values }));

const sight: readonly Scenario[] = [
  {
    alert: 'McpTargetGone',
    title: 'the server died',
    series: world(30, { [registered]: then(steady(100, 10), GONE) }),
    at: 15,
    fires: [{ labels: { ...EXPORTER, target: SERVER.target }, value: '1' }],
  },
  {
    alert: 'McpTargetGone',
    title: 'the server of one host died, another host has one of the same name',
    series: [
      ...world(30, { [registered]: then(steady(100, 10), GONE) }),
      ...elsewhere(30, steady(100, 30), steady(1, 30)),
    ],
    at: 15,
    fires: [{ labels: { ...EXPORTER, target: SERVER.target }, value: '1' }],
  },
  {
    alert: 'McpTargetGone',
    title: 'the last pod is gone, and its exporter with it',
    series: [
      ...elsewhere(30, then(steady(100, 10), GONE), then(steady(1, 10), GONE)),
      input('up', EXPORTER, steady(1, 30)),
    ],
    at: 15,
    fires: [{ labels: { target: SERVER.target }, value: '1' }],
  },
  {
    alert: 'McpTargetGone',
    title: 'a pod was replaced by another, each with an exporter of its own',
    series: [
      ...elsewhere(30, then(steady(100, 10), GONE), then(steady(1, 10), GONE)),
      ...world(30, { [registered]: then(gap(9), steady(10, 21)) }),
    ],
    at: 30,
    fires: [],
  },
  {
    alert: 'McpTargetGone',
    title: 'a worker was replaced by another',
    series: [
      ...worker(30, { change: { [registered]: then(steady(100, 10), GONE) } }),
      ...worker(30, { worker: 'w2', change: { [registered]: then(gap(11), steady(10, 19)) } }),
      ...surroundings(30),
    ],
    at: 30,
    fires: [],
  },
  {
    alert: 'McpProbeUnsupported',
    title: 'an SDK that the probe does not know',
    series: world(10, { [catalogue.probeSupported.name]: steady(0, 10) }),
    at: 8,
    fires: [{ labels: workerOf() }],
  },
  { alert: 'McpProbeUnsupported', title: 'one that it knows', series: world(30), at: 30, fires: [] },
];

const exporter: readonly Scenario[] = [
  {
    alert: 'McpExporterAbsent',
    title: 'nothing but the load is scraped',
    series: [input('up', LOAD, steady(1, 20))],
    at: 10,
    fires: [{ labels: {} }],
  },
  { alert: 'McpExporterAbsent', title: 'an exporter is scraped', series: world(20), at: 20, fires: [] },
  {
    alert: 'McpExporterDown',
    title: 'its scrape fails for hours',
    series: surroundings(240, {
      exporterUp: then(steady(1, 10), steady(0, 230)),
      sessionsCollector: then(steady(1, 10), GONE),
    }),
    at: 230,
    fires: [{ labels: EXPORTER }],
  },
  {
    alert: 'McpExporterDown',
    title: 'something else is down, and one scrape of the exporter failed',
    series: [
      ...world(30, {}, { exporterUp: then(steady(1, 10), '0', steady(1, 20)) }),
      input('up', { job: 'blog', instance: 'blog:80' }, steady(0, 30)),
    ],
    at: 30,
    fires: [],
  },
  {
    alert: 'McpCollectorFailing',
    title: 'the probe does not answer, memory is read all the same',
    series: world(20, {}, { sessionsCollector: steady(0, 20) }),
    at: 10,
    fires: [{ labels: { ...EXPORTER, target: SERVER.target, collector: 'sessions' } }],
  },
  {
    alert: 'McpCollectorFailing',
    title: 'one scrape in which it was late',
    series: world(20, {}, { sessionsCollector: then(steady(1, 10), '0', steady(1, 9)) }),
    at: 20,
    fires: [],
  },
];

const limited = (change: Record<string, string>, name = 'w1'): Scenario['series'] =>
  worker(120, { worker: name, change });

/** Half a MiB each; they stop coming before anybody looks. */
const MORE = {
  [registered]: then(ramp(0, 1, 70), steady(280, 50)),
  [memory]: then(ramp(100 * MIB, 0.5 * MIB, 70), steady(240 * MIB, 50)),
};

const limits: readonly Scenario[] = [
  {
    alert: 'McpMemoryLimitNear',
    title: 'two workers in one control group, of which each alone would fit',
    series: [...limited(MORE), ...limited(MORE, 'w2'), ...surroundings(120, { expected: null })],
    at: 85,
    fires: [{ labels: { ...EXPORTER, target: SERVER.target }, value: '93.75%' }],
    // At the cap of 500 sessions a worker takes 350 MiB, both take 700 MiB, and there are 512.
    expect: [
      {
        expr: `${memoryAtCapTogether.name} > bool 1.3`,
        samples: [
          {
            labels: `{instance="${EXPORTER.instance}",job="${EXPORTER.job}",target="${SERVER.target}"}`,
            value: 1,
          },
        ],
      },
      { expr: `max(${memoryAtCap.name}) < bool 0.7`, samples: [{ labels: '{}', value: 1 }] },
    ],
  },
  {
    alert: 'McpMemoryLimitNear',
    title: 'a worker whose memory is nearly full, and whose sessions fit in the rest',
    series: world(120, {
      [registered]: ramp(0, 1, 120),
      [memory]: ramp(430 * MIB, 0.01 * MIB, 120),
    }),
    at: 120,
    fires: [],
  },
  {
    alert: 'McpMemoryLimitNear',
    title: 'a deployment: memory of two workers that warm up with their first sessions',
    series: [
      ...limited({ [registered]: then(ramp(0, 1, 10), steady(40, 110)), [memory]: warm }),
      ...limited({ [registered]: then(ramp(0, 1, 10), steady(40, 110)), [memory]: warm }, 'w2'),
      ...surroundings(120, { expected: null }),
    ],
    at: 120,
    fires: [],
  },
];

export const processScenarios: readonly Scenario[] = [...memories, ...limits, ...sight, ...exporter];
