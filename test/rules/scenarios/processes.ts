/** Server processes: memory, restarts, whether they can be seen at all. */
import * as catalogue from '../../../src/metrics/catalogue.ts';
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
const startTime = catalogue.serverStartTime.name;
const MIB = 2 ** 20;

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
];

const worker2 = (start: string, name = 'w1'): Scenario['series'] =>
  worker(60, { worker: name, change: { [startTime]: start } });

const restarts: readonly Scenario[] = [
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
    fires: [{ labels: { job: EXPORTER.job, ...SERVER }, value: '2' }],
  },
  {
    alert: 'McpServerRestarts',
    title: 'the second of two restarts is hidden behind a scrape gap of ten minutes',
    series: [
      ...worker2(then(steady(-900, 5), steady(300, 5), gap(10), steady(1100, 40))),
      ...surroundings(60),
    ],
    at: 25,
    fires: [{ labels: { job: EXPORTER.job, ...SERVER }, value: '2' }],
  },
  {
    alert: 'McpServerRestarts',
    title: 'a deployment that starts two workers one after the other',
    series: [
      ...worker2(then(steady(-900, 10), steady(600, 50))),
      ...worker2(then(steady(-900, 12), steady(720, 48)), 'w2'),
      ...surroundings(60),
    ],
    at: 60,
    fires: [],
  },
];

const sight: readonly Scenario[] = [
  {
    alert: 'McpTargetGone',
    title: 'the server died',
    series: world(30, { [registered]: then(steady(100, 10), GONE) }),
    at: 15,
    fires: [{ labels: { target: SERVER.target }, value: '1' }],
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

export const processScenarios: readonly Scenario[] = [...memories, ...restarts, ...sight, ...exporter];
