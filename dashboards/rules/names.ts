/**
 * Every recording rule's name, once: `LEVEL:METRIC:OPERATION`, where LEVEL says what one series stands for. Rules and
 * dashboards refer to these constants.
 */
import {
  serverMemoryLimit,
  serverResidentMemory,
  serverStartTime,
  sessionExpirations,
  sessionIdleTimeout,
  sessionLimit,
  sessionRejections,
  sessionsRegistered,
} from '../../src/metrics/catalogue.ts';
import type { Series } from '../promql.ts';

export interface Recorded<Label extends string = string> extends Series<Label> {
  readonly unit: string;
  /** One sentence: what the value says. */
  readonly help: string;
}

const recorded = <Label extends string>(
  name: string,
  labels: readonly Label[],
  unit: string,
  help: string,
): Recorded<Label> => ({ name, labels, unit, help });

const manager = sessionsRegistered.labels;
const worker = serverStartTime.labels;
const target = ['target', 'build'] as const;

/** Retention drift has no `job`: the exporter's and the load's differ. The other target levels keep it. */
const targetOfJob = ['job', ...target] as const;

/** A target as one exporter sees it: all its workers on one host, in one pod or container. */
const ofInstance = ['job', 'instance', 'target'] as const;

export const identityDrift = recorded(
  'manager:mcp_session_identity_drift',
  manager,
  'sessions',
  'Registered sessions minus those that the counters of the same scrape account for. Always 0 where they are right.',
);
export const idleMax = recorded(
  `manager:${sessionIdleTimeout.name}:policy`,
  manager,
  's',
  'How long a session may be idle by policy: as configured, else by the timeout of the server, else 30 minutes.',
);
export const cap = recorded(
  `manager:${sessionLimit.name}:policy`,
  manager,
  'sessions',
  'Cap on sessions in force: that of the server, else the one that the policy wants.',
);
export const capUse = recorded(
  `manager:${sessionLimit.name}:use_ratio`,
  manager,
  'ratio',
  'Registered sessions as a share of the cap, of one manager.',
);
export const growthPerMinute = recorded(
  `manager:${sessionsRegistered.name}:growth_per_minute`,
  manager,
  'sessions/min',
  'How fast the number of registered sessions grows (negative: falls), by regression over several minutes.',
);
export const timeToCap = recorded(
  `manager:${sessionLimit.name}:seconds_to_reach`,
  manager,
  's',
  'Time until the cap is reached at the present growth; absent where nothing grows or no cap is known.',
);
export const workerRegistered = recorded(
  `worker:${sessionsRegistered.name}:sum`,
  worker,
  'sessions',
  'Registered sessions of one worker process, all its managers together.',
);
export const bytesPerSession = recorded(
  `worker:${serverResidentMemory.name}:per_retained_session`,
  worker,
  'bytes',
  'Growth of resident memory per session that the registry grew by; absent while the registry does not grow.',
);
export const memoryAtCap = recorded(
  `worker:${serverMemoryLimit.name}:ratio_at_cap`,
  worker,
  'ratio',
  'Memory that one worker would take with its registry at the cap, as a share of the memory limit, which it may have to share with others.',
);
export const memoryUse = recorded(
  `instance:${serverMemoryLimit.name}:use_ratio`,
  ofInstance,
  'ratio',
  'Resident memory of all workers of a target that one exporter sees, as a share of the memory limit that they share.',
);
export const memoryAtCapTogether = recorded(
  `instance:${serverMemoryLimit.name}:ratio_at_cap`,
  ofInstance,
  'ratio',
  'Memory that these workers would take together with every registry at its cap, as a share of the limit that they share.',
);
export const workerStarts = recorded(
  `worker:${serverStartTime.name}:starts_30m`,
  worker,
  'starts',
  'How often a process was started under this worker label within the last 30 minutes.',
);
export const unobserved = recorded(
  'target:mcp_unobserved',
  ['target'],
  '',
  '1 while some part of a target (a worker, an exporter, a load) cannot be read: sums over it are not to be trusted.',
);
export const targetRegistered = recorded(
  `target:${sessionsRegistered.name}:sum`,
  targetOfJob,
  'sessions',
  'Registered sessions of one build at one target.',
);
export const retentionDrift = recorded(
  'target:mcp_session_retention_drift',
  target,
  'sessions',
  'Sessions registered above what the ledger of the load allows (positive) or below it (negative); 0 inside. Absent, not 0, while a side is missing.',
);
export const capUseMax = recorded(
  `target:${sessionLimit.name}:use_ratio_max`,
  targetOfJob,
  'ratio',
  'Share of the cap used by the fullest manager: the cap is per manager, so one can be full while the sum is not.',
);
export const timeToCapMin = recorded(
  `target:${sessionLimit.name}:seconds_to_reach_min`,
  targetOfJob,
  's',
  'Time until the first manager of a target reaches its cap.',
);
export const expirationShare = recorded(
  `target:${sessionExpirations.name}:share_of_removals`,
  targetOfJob,
  'ratio',
  'Share of the removed sessions that expired rather than being deleted.',
);
export const rejectionShare = recorded(
  `target:${sessionRejections.name}:share_of_openings`,
  targetOfJob,
  'ratio',
  'Share of the openings that were refused because of the cap.',
);
export const expectedPopulation = recorded(
  `target:${sessionsRegistered.name}:arrivals_times_idle_max`,
  targetOfJob,
  'sessions',
  'Arrival rate × idle timeout: how many sessions are registered in the long run when no client deletes its session.',
);
export const workersSeen = recorded(
  `target:${serverStartTime.name}:count`,
  targetOfJob,
  'workers',
  'Workers of one build at one target that are seen now.',
);
export const targetStarts = recorded(
  `target:${serverStartTime.name}:starts_30m`,
  targetOfJob,
  'starts',
  'How often workers were started within the last 30 minutes, whatever they were called and whether they still live.',
);
export const workersOlder = recorded(
  `target:${serverStartTime.name}:older_30m`,
  targetOfJob,
  'workers',
  'Of the workers that are seen now, those that were not started within the last 30 minutes; absent where there are none.',
);
export const latestStart = recorded(
  `target:${serverStartTime.name}:max`,
  targetOfJob,
  's',
  'Start time of the youngest worker of the last moments: it rises with every start, and falls when the youngest has gone.',
);

/** As the exporter calls the collector of registered sessions, in the label `collector`. */
export const SESSIONS_COLLECTOR = 'sessions';

/** In the order in which they are evaluated. */
export const RECORDED: readonly Recorded[] = [
  identityDrift,
  idleMax,
  cap,
  capUse,
  growthPerMinute,
  timeToCap,
  workerRegistered,
  bytesPerSession,
  memoryAtCap,
  memoryUse,
  memoryAtCapTogether,
  workerStarts,
  unobserved,
  targetRegistered,
  retentionDrift,
  capUseMax,
  timeToCapMin,
  expirationShare,
  rejectionShare,
  expectedPopulation,
  workersSeen,
  targetStarts,
  workersOlder,
  latestStart,
];
