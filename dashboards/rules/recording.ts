/** The recording rules, in the order in which they need one another: one group, evaluated from top to bottom. */
import {
  clientExpected,
  collectorSuccess,
  serverMemoryLimit,
  serverResidentMemory,
  serverStartTime,
  sessionExpirations,
  sessionIdleTimeout,
  sessionLimit,
  sessionRegistrations,
  sessionRejections,
  sessionRemovals,
  sessionsRegistered,
  sessionsRegisteredAtStart,
} from '../../src/metrics/catalogue.ts';
import type { Metric } from '../../src/metrics/metric.ts';
import { by, call, over, sel, up, type Aggregation } from '../promql.ts';
import { k6Rules } from './k6.ts';
import * as names from './names.ts';
import {
  FALLBACK_IDLE_SECONDS,
  STARTS_SECONDS,
  STARTS_WINDOW,
  windowsOf,
  type RulesOptions,
} from './options.ts';
import { record, type RecordingRule } from './rule.ts';

export const recordingRules = (options: RulesOptions): RecordingRule[] => [
  ...perManager(options),
  ...perWorker(options),
  ...perInstance(options),
  ...perTarget(options),
  ...k6Rules(options),
  record(names.retentionDrift, retentionDrift(options)),
];

/** What is computed over a window outlives its worker by that window: `and` ends it with the worker. */
const perManager = (options: RulesOptions): RecordingRule[] => {
  const registered = sel(sessionsRegistered, options);
  const growth = sel(names.growthPerMinute, options);
  const identity = `${registered} - (${sel(sessionsRegisteredAtStart, options)} + ${sel(sessionRegistrations, options)} - ${sel(sessionRemovals, options)})`;
  return [
    record(names.identityDrift, identity),
    record(names.idleMax, policyIdle(options)),
    record(names.cap, policyCap(options)),
    record(names.capUse, `${registered} / (${sel(names.cap, options)} > 0)`),
    record(
      names.growthPerMinute,
      `60 * ${call('deriv', over(sessionsRegistered, options, windowsOf(options).trend))} and ${registered}`,
    ),
    record(
      names.timeToCap,
      `60 * ${call('clamp_min', `${sel(names.cap, options)} - ${registered}`, 0)} / (${growth} > 0)`,
    ),
  ];
};

/** A configured policy rules over the servers' own timeouts; without one, they are the policy. */
const policyIdle = (options: RulesOptions): string => {
  const everywhere = (seconds: number): string =>
    `${sel(sessionsRegistered, options)} * 0 + ${String(seconds)}`;
  if (options.idleMaxSeconds !== undefined) return everywhere(options.idleMaxSeconds);
  return `${sel(sessionIdleTimeout, options)} or ${everywhere(FALLBACK_IDLE_SECONDS)}`;
};

const policyCap = (options: RulesOptions): string => {
  const own = sel(sessionLimit, options);
  if (options.maxSessions === undefined) return own;
  return `${own} or ${sel(sessionsRegistered, options)} * 0 + ${String(options.maxSessions)}`;
};

const WORKER = ['job', 'instance', ...serverStartTime.labels];

/**
 * Memory at the cap: what is resident now, and as much per session as was measured for each session still missing.
 * The measured figure holds on for the long window, since it exists only while the registry grows.
 */
const perWorker = (options: RulesOptions): RecordingRule[] => {
  const { trend } = windowsOf(options);
  const memory = sel(serverResidentMemory, options);
  const growing = call('deriv', over(names.workerRegistered, options, trend));
  return [
    record(names.workerRegistered, by('sum', WORKER, sel(sessionsRegistered, options))),
    record(
      names.bytesPerSession,
      `${by('sum', WORKER, call('deriv', over(serverResidentMemory, options, trend)))}\n/ (${growing} > 1 / 60 and ${sel(names.workerRegistered, options)})`,
    ),
    record(
      names.memoryAtCap,
      `(${by('sum', WORKER, memory)} + ${missing(options)} * ${call('clamp_min', lately(options), 0)})\n/ ${by('sum', WORKER, sel(serverMemoryLimit, options))}`,
    ),
    record(names.workerStarts, startsOfWorker(options)),
  ];
};

/** Sessions that a worker's managers may still take. */
const missing = (options: RulesOptions): string =>
  call(
    'clamp_min',
    `${by('sum', WORKER, sel(names.cap, options))} - ${sel(names.workerRegistered, options)}`,
    0,
  );

const lately = (options: RulesOptions): string =>
  call('last_over_time', over(names.bytesPerSession, options, windowsOf(options).long));

/**
 * A process counts where its start lies in the window: the first that was seen there may be older, each later one is
 * not. What is missed in a scrape and comes back is the same process.
 */
const startsOfWorker = (options: RulesOptions): string => {
  const seen = over(serverStartTime, options, STARTS_WINDOW);
  return `${call('changes', seen)} + (${call('min_over_time', seen)} > bool time() - ${String(STARTS_SECONDS)})`;
};

/**
 * The workers that one exporter sees of a target are taken to share one control group, so that their memory adds up
 * against one limit (the smallest, where they differ). A worker that has not grown costs as much a session as the
 * others do.
 */
const perInstance = (options: RulesOptions): RecordingRule[] => {
  const together = (aggregation: Aggregation, expression: string): string =>
    by(aggregation, names.memoryUse.labels, expression);
  const memory = together('sum', sel(serverResidentMemory, options));
  const limit = together('min', sel(serverMemoryLimit, options));
  const perSession = call('clamp_min', together('avg', lately(options)), 0);
  return [
    record(names.memoryUse, `${memory}\n/ ${limit}`),
    record(
      names.memoryAtCapTogether,
      `(${memory} + ${together('sum', missing(options))} * ${perSession})\n/ ${limit}`,
    ),
  ];
};

const TARGET = names.targetRegistered.labels;

const perTarget = (options: RulesOptions): RecordingRule[] => {
  const { rate } = windowsOf(options);
  const perSecond = (counter: Metric): string =>
    by('sum', TARGET, call('rate', over(counter, options, rate)));
  const openings = `(${perSecond(sessionRegistrations)} + ${perSecond(sessionRejections)})`;
  const arrivals = call('rate', over(sessionRegistrations, options, rate));
  return [
    record(names.unobserved, unobserved(options)),
    record(names.targetRegistered, by('sum', TARGET, sel(sessionsRegistered, options))),
    record(names.capUseMax, by('max', TARGET, sel(names.capUse, options))),
    record(names.timeToCapMin, by('min', TARGET, sel(names.timeToCap, options))),
    record(names.expirationShare, `${perSecond(sessionExpirations)}\n/ (${perSecond(sessionRemovals)} > 0)`),
    record(names.rejectionShare, `${perSecond(sessionRejections)}\n/ (${openings} > 0)`),
    record(names.expectedPopulation, by('sum', TARGET, `${arrivals} * ${sel(names.idleMax, options)}`)),
    record(names.workersSeen, by('count', TARGET, sel(serverStartTime, options))),
    record(names.targetStarts, by('sum', TARGET, sel(names.workerStarts, options))),
    record(
      names.workersOlder,
      by('count', TARGET, `${sel(names.workerStarts, options)} == 0 and ${sel(serverStartTime, options)}`),
    ),
    record(names.latestStart, latestStart(options)),
  ];
};

/** Over the last moments: one scrape that missed the youngest worker is no change. */
const latestStart = (options: RulesOptions): string => {
  const lastMoments = call('max_over_time', over(serverStartTime, options, windowsOf(options).skew));
  return `${by('max', TARGET, lastMoments)} and ${by('max', TARGET, sel(serverStartTime, options))}`;
};

/**
 * A sum over a target misses what cannot be read, and a leak would look mended. So: a collector that failed, or a
 * scrape target (exporter or load) that is down and showed this target's series a quarter of an hour ago or later.
 */
const unobserved = (options: RulesOptions): string => `(
  count by (target) (${sel(collectorSuccess, options, { collector: names.SESSIONS_COLLECTOR })} == 0)
  or ${down(collectorSuccess, options)}
  or ${down(clientExpected, options)}
) > bool 0`;

const down = (metric: Metric, options: RulesOptions): string =>
  by(
    'count',
    ['target'],
    `${call('last_over_time', over(metric, options, '15m'))} and on (job, instance) ${up.name} == 0`,
  );

/**
 * Exporter and load are scraped at different instants. Registered sessions count as above only where even the
 * fewest of the last moments are more than the most that were allowed in them, and the other way round; so a ramp is
 * no drift. That takes a few scrapes, without which nothing is said. The ledger is the target's, whichever builds run
 * there: each build shows its target's drift.
 *
 * What is read of a target that is unobserved in part is the least that is registered: more than is allowed stays so,
 * as long as no load of the target is missing. Nothing else is then said.
 */
const retentionDrift = (options: RulesOptions): string => {
  const { skew } = windowsOf(options);
  const registered = (extreme: 'min' | 'max'): string =>
    by('sum', ['target'], lastMoments(sessionsRegistered, extreme, {}));
  const allowed = (extreme: 'min' | 'max'): string =>
    by('sum', ['target'], lastMoments(clientExpected, extreme, { bound: extreme }));
  const lastMoments = (metric: Metric, extreme: string, matchers: Readonly<Record<string, string>>): string =>
    `${call(`${extreme}_over_time`, over(metric, options, skew, matchers))} and ${sel(metric, options, matchers)}`;
  const seen = (metric: Metric): string =>
    `${by('max', ['target'], call('count_over_time', over(metric, options, skew)))} >= 3`;
  const builds = by('max', ['target', 'build'], `${sel(names.targetRegistered, options)} >= bool 0`);
  const above = `${registered('min')} - ${allowed('max')}`;
  const below = `${registered('max')} - ${allowed('min')}`;
  return `${builds}
* on (target) group_left () (
  (
    (${call('clamp_min', above, 0)} + ${call('clamp_max', below, 0)} unless on (target) ${sel(names.unobserved, options)})
    or ((${above}) > 0 unless on (target) ${down(clientExpected, options)})
  )
  and on (target) ${seen(sessionsRegistered)}
  and on (target) ${seen(clientExpected)}
)`;
};
