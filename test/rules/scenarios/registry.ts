/** What the registry and its counters tell without a ledger. */
import * as catalogue from '../../../src/metrics/catalogue.ts';
import type { Scenario } from '../support/scenario.ts';
import { gap, GONE, managerOf, ramp, steady, surroundings, then, worker, world } from '../support/world.ts';

const registered = catalogue.sessionsRegistered.name;
const atStart = catalogue.sessionsRegisteredAtStart.name;
const registrations = catalogue.sessionRegistrations.name;
const removals = catalogue.sessionRemovals.name;
const expirations = catalogue.sessionExpirations.name;
const remnants = catalogue.sessionRemnants.name;
const oldestIdle = catalogue.sessionOldestIdle.name;
const idleTimeout = catalogue.sessionIdleTimeout.name;
const startTime = catalogue.serverStartTime.name;

const identity: readonly Scenario[] = [
  {
    alert: 'McpSessionIdentityBroken',
    title: 'an entry came into the registry that nobody counted',
    series: world(10, { [registered]: steady(101, 10) }),
    at: 5,
    fires: [{ labels: managerOf(), value: '1' }],
  },
  {
    alert: 'McpSessionIdentityBroken',
    title: 'a restart in mid-run, and a scrape gap: counters begin anew together',
    series: world(20, {
      [registered]: then(steady(100, 5), gap(2), ramp(40, 1, 13)),
      [atStart]: then(steady(0, 5), gap(2), steady(40, 13)),
      [registrations]: then(ramp(100, 5, 5), gap(2), ramp(0, 3, 13)),
      [removals]: then(ramp(0, 5, 5), gap(2), ramp(0, 2, 13)),
    }),
    at: 20,
    fires: [],
  },
];

const leftovers: readonly Scenario[] = [
  {
    alert: 'McpSessionRemnants',
    title: 'terminated sessions that nothing removes',
    series: world(20, { [remnants]: steady(5, 20), [removals]: steady(0, 20) }),
    at: 12,
    fires: [{ labels: managerOf(), value: '5' }],
  },
  {
    alert: 'McpSessionRemnants',
    title: 'they stay while live sessions still come and go',
    series: world(20, { [remnants]: then(ramp(0, 6, 10), steady(240, 10)), [removals]: ramp(0, 15, 20) }),
    at: 20,
    fires: [{ labels: managerOf(), value: '240' }],
  },
  {
    alert: 'McpSessionRemnants',
    title: 'a busy server that is about to remove what has just ended',
    series: world(20, { [remnants]: steady(8, 20), [removals]: ramp(0, 150, 20) }),
    at: 20,
    fires: [],
  },
  {
    alert: 'McpSessionRemnants',
    title: 'a worker that died with them, and another in its place: gone with the worker',
    series: [
      ...worker(20, { change: { [remnants]: then(steady(5, 4), GONE), [removals]: steady(0, 20) } }),
      ...surroundings(20),
    ],
    at: 20,
    fires: [],
  },
  {
    alert: 'McpSessionRemnants',
    title: 'one scrape that met a session between its end and its removal',
    series: world(20, { [remnants]: then(steady(0, 10), '1', steady(0, 10)) }),
    at: 20,
    fires: [],
  },
];

const idle: readonly Scenario[] = [
  {
    alert: 'McpSessionsIdleTooLong',
    title: 'a session that has been idle for far longer than the timeout',
    series: world(10, { [oldestIdle]: steady(7200, 10) }),
    at: 8,
    fires: [{ labels: managerOf(), value: '2h 0m 0s' }],
  },
  {
    alert: 'McpSessionsIdleTooLong',
    title: 'without a timeout of the server, half an hour is the policy',
    series: world(10, { [oldestIdle]: steady(2100, 10), [idleTimeout]: null }),
    at: 8,
    fires: [{ labels: managerOf(), value: '35m 0s' }],
  },
  {
    alert: 'McpSessionsIdleTooLong',
    title: 'about to expire',
    series: world(30, { [oldestIdle]: steady(1830, 30) }),
    at: 30,
    fires: [],
  },
  {
    alert: 'McpSessionsIdleTooLong',
    title: 'as long as the server itself allows',
    series: world(30, { [oldestIdle]: steady(7000, 30), [idleTimeout]: steady(7200, 30) }),
    at: 30,
    fires: [],
  },
];

/** Four more a minute, which is all that come. */
const grows = (minutes: number): Record<string, string> => ({
  [registered]: ramp(0, 1, minutes),
  [registrations]: ramp(0, 1, minutes),
  [removals]: steady(0, minutes),
  [expirations]: steady(0, minutes),
});

const growth: readonly Scenario[] = [
  {
    alert: 'McpSessionsGrowWithoutExpiry',
    title: 'four more a minute for hours, none ever expires',
    series: world(150, grows(150)),
    at: 140,
    fires: [{ labels: managerOf(), value: '4' }],
  },
  {
    alert: 'McpSessionsGrowWithoutExpiry',
    title: 'one more a minute that a dead stream holds, and a stray one that expires now and then',
    series: world(240, {
      [registered]: ramp(10, 0.25, 240),
      [registrations]: ramp(10, 0.5, 240),
      [removals]: ramp(0, 0.25, 240),
      [expirations]: ramp(0, 0.01, 240),
      [oldestIdle]: steady(1700, 240),
    }),
    at: 200,
    fires: [{ labels: managerOf(), value: '1' }],
  },
  {
    alert: 'McpSessionsGrowWithoutExpiry',
    title: 'a morning: clients that delete their sessions, and of those ever more',
    series: world(480, {
      [registered]: then(steady(10, 150), ramp(10, 0.1, 240), steady(106, 90)),
      [registrations]: ramp(10, 5.1, 480),
      [removals]: ramp(0, 5, 480),
      [expirations]: steady(0, 480),
    }),
    at: 480,
    fires: [],
  },
  {
    alert: 'McpSessionsGrowWithoutExpiry',
    title: 'a group of clients that connects at once and stays',
    series: world(300, {
      [registered]: then(steady(10, 150), steady(40, 150)),
      [registrations]: then(steady(10, 150), steady(40, 150)),
      [removals]: steady(0, 300),
      [expirations]: steady(0, 300),
    }),
    at: 300,
    fires: [],
  },
  {
    alert: 'McpSessionsGrowWithoutExpiry',
    title: 'more clients that leave their sessions, which expire',
    series: world(150, {
      [registered]: ramp(300, 0.5, 150),
      [registrations]: ramp(300, 2, 150),
      [removals]: ramp(0, 1.5, 150),
      [expirations]: ramp(0, 1.5, 150),
    }),
    at: 150,
    fires: [],
  },
  {
    alert: 'McpSessionsGrowWithoutExpiry',
    title: 'a population that is steady',
    series: world(150, { [expirations]: steady(0, 150) }),
    at: 150,
    fires: [],
  },
  {
    alert: 'McpSessionsGrowWithoutExpiry',
    title: 'a server that fills up after its start and again after a restart in mid-run',
    series: [
      ...worker(100, {
        change: { ...grows(55), [registered]: then(ramp(0, 1, 55), GONE), [startTime]: steady(0, 55) },
      }),
      ...worker(100, {
        worker: 'w2',
        change: {
          [registered]: then(gap(55), ramp(0, 1, 45)),
          [expirations]: then(gap(55), steady(0, 45)),
          [startTime]: then(gap(55), steady(3300, 45)),
        },
      }),
      ...surroundings(100, { expected: null }),
    ],
    at: 100,
    fires: [],
  },
  {
    alert: 'McpSessionsGrowWithoutExpiry',
    title: 'a timeout longer than what is looked back on',
    series: world(150, { ...grows(150), [idleTimeout]: steady(86400, 150) }),
    at: 150,
    fires: [],
  },
];

export const registryScenarios: readonly Scenario[] = [...identity, ...leftovers, ...idle, ...growth];
