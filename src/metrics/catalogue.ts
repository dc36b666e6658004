/**
 * Every metric, once. Exporter, load side, rules, dashboards and the documentation refer to these constants; no
 * other file writes a metric's name.
 */
import { counter, gauge, histogram, type Metric } from './metric.ts';

/** One session manager of one worker process. The cap is per manager. Never a session id. */
const managerLabels = ['target', 'build', 'worker', 'manager'] as const;
const workerLabels = ['target', 'build', 'worker'] as const;
const loadLabels = ['target', 'build', 'case', 'run'] as const;

// From the probe, per session manager.
export const sessionsRegistered = gauge('mcp_sessions_registered', {
  unit: 'sessions',
  help: 'Sessions in the registry of one session manager now.',
  labels: managerLabels,
});
export const sessionsRegisteredAtStart = gauge('mcp_sessions_registered_at_start', {
  unit: 'sessions',
  help: 'Sessions that were registered when the probe began to count. It resets together with the counters.',
  labels: managerLabels,
});
export const sessionsInFlight = gauge('mcp_sessions_in_flight', {
  unit: 'sessions',
  help: 'Registered sessions with a request or stream being served now.',
  labels: managerLabels,
});
export const sessionStreamsOpen = gauge('mcp_session_streams_open', {
  unit: 'streams',
  help: 'GET event streams open now.',
  labels: managerLabels,
});
export const sessionRemnants = gauge('mcp_session_remnants', {
  unit: 'sessions',
  help: 'Registered entries whose transport has terminated. A server that cleans up has none for longer than an instant.',
  labels: managerLabels,
});
export const sessionOldestIdle = gauge('mcp_session_oldest_idle_seconds', {
  unit: 's',
  help: 'Idle time of the registered session that has been idle longest; 0 when none is idle.',
  labels: managerLabels,
});
/** Not labelled `le`: promtool refuses that on a gauge. */
export const sessionsIdle = gauge('mcp_sessions_idle', {
  unit: 'sessions',
  help: 'Registered sessions that have been idle for longer than the label says, in seconds.',
  labels: [...managerLabels, 'older_than'] as const,
});
export const sessionRegistrations = counter('mcp_session_registrations_total', {
  unit: 'sessions',
  help: 'Sessions added to the registry.',
  labels: managerLabels,
});
export const sessionRemovals = counter('mcp_session_removals_total', {
  unit: 'sessions',
  help: 'Sessions removed from the registry, for whatever reason.',
  labels: managerLabels,
});
export const sessionExpirations = counter('mcp_session_expirations_total', {
  unit: 'sessions',
  help: 'Sessions removed because they were idle for too long. A subset of removals.',
  labels: managerLabels,
});
export const sessionRejections = counter('mcp_session_rejections_total', {
  unit: 'openings',
  help: 'Openings refused because the cap was reached.',
  labels: managerLabels,
});
export const sessionLimit = gauge('mcp_session_limit', {
  unit: 'sessions',
  help: 'Cap on sessions of one session manager; absent where there is none.',
  labels: managerLabels,
});
export const sessionIdleTimeout = gauge('mcp_session_idle_timeout_seconds', {
  unit: 's',
  help: 'Idle timeout of sessions; absent where there is none.',
  labels: managerLabels,
});
export const requestsCompleted = counter('mcp_requests_completed_total', {
  unit: 'requests',
  help: 'HTTP requests that the session manager has finished with, refused ones included.',
  labels: managerLabels,
});
export const sessionDuration = histogram('mcp_server_session_duration_seconds', {
  unit: 's',
  help: 'Lifetimes of ended sessions. Retained sessions never enter it: see the idle ages.',
  labels: managerLabels,
  buckets: [0.1, 1, 10, 60, 300, 1800, 3600, 21600, 86400],
});

// From the probe, per worker process.
export const serverStartTime = gauge('mcp_server_start_time_seconds', {
  unit: 's',
  help: 'Start time of the server process, in seconds since the epoch.',
  labels: workerLabels,
});
export const buildInfo = gauge('mcp_build_info', {
  unit: '',
  help: 'Always 1; the labels say which SDK at which version the worker runs.',
  labels: [...workerLabels, 'sdk', 'version'] as const,
});
export const probeSupported = gauge('mcp_probe_supported', {
  unit: '',
  help: '1 where the probe knows the shape of this SDK, 0 where it does not or met an error: its counts are then not to be trusted.',
  labels: workerLabels,
});

// From the kernel, per worker process.
export const serverResidentMemory = gauge('mcp_server_resident_memory_bytes', {
  unit: 'bytes',
  help: 'Resident memory of the server process.',
  labels: workerLabels,
});
export const serverMemoryLimit = gauge('mcp_server_memory_limit_bytes', {
  unit: 'bytes',
  help: 'Memory limit of the control group that the server process is in; absent where there is none.',
  labels: workerLabels,
});
export const serverOpenFds = gauge('mcp_server_open_fds', {
  unit: 'descriptors',
  help: 'Open file descriptors of the server process.',
  labels: workerLabels,
});
export const serverChildProcesses = gauge('mcp_server_child_processes', {
  unit: 'processes',
  help: 'Living descendants of the server process.',
  labels: workerLabels,
});

// From the load side.
export const clientOpened = counter('mcp_client_sessions_opened_total', {
  unit: 'sessions',
  help: 'Sessions that the load side opened.',
  labels: loadLabels,
});
export const clientDeleted = counter('mcp_client_sessions_deleted_total', {
  unit: 'sessions',
  help: 'Sessions whose DELETE was accepted, or answered that they were gone.',
  labels: loadLabels,
});
export const clientAbandoned = counter('mcp_client_sessions_abandoned_total', {
  unit: 'sessions',
  help: 'Sessions that the load side left without DELETE.',
  labels: loadLabels,
});
export const clientRefused = counter('mcp_client_sessions_refused_total', {
  unit: 'openings',
  help: 'Openings that the server refused, by reason: over-cap (503), or rejected.',
  labels: [...loadLabels, 'reason'] as const,
});
export const clientUncertain = counter('mcp_client_sessions_uncertain_total', {
  unit: 'sessions',
  help: 'Openings and deletions whose connection broke before the answer.',
  labels: loadLabels,
});
export const clientExpected = gauge('mcp_client_sessions_expected', {
  unit: 'sessions',
  help: 'How many sessions may be registered now by the ledger, as an interval. It starts anew when the target does.',
  labels: [...loadLabels, 'bound'] as const,
});
export const clientRequests = counter('mcp_client_requests_total', {
  unit: 'requests',
  help: 'Requests of the load side by HTTP method and status; status 0 where the connection broke.',
  labels: [...loadLabels, 'method', 'status'] as const,
});
/** Where it grows, what the load side shows is less than what was asked for. */
export const clientArrivalsLate = counter('mcp_client_arrivals_late_total', {
  unit: 'arrivals',
  help: 'Arrivals left out because they could not be played when they were due: full (all places were taken), or behind (the load side itself was late).',
  labels: [...loadLabels, 'reason'] as const,
});
export const clientRequestDuration = histogram('mcp_client_request_duration_seconds', {
  unit: 's',
  help: 'Time from sending a request to its answer.',
  labels: loadLabels,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

// From k6 alone, which has no other word for whether a load was played to its end.
export const partsBegun = counter('mcp_k6_parts_begun_total', {
  unit: 'parts',
  help: 'Parts of its load that a k6 script has begun: virtual users of a case, arrivals of a mixed load.',
  labels: loadLabels,
});
export const partsFinished = counter('mcp_k6_parts_finished_total', {
  unit: 'parts',
  help: 'Parts of its load that a k6 script has played to their end: fewer than were begun where it was cut.',
  labels: loadLabels,
});

// About the exporter itself.
export const collectorSuccess = gauge('mcp_exporter_collector_success', {
  unit: '',
  help: '1 where a collector read its target in this scrape, 0 where it failed.',
  labels: ['target', 'collector'] as const,
});
export const collectorDuration = gauge('mcp_exporter_collector_duration_seconds', {
  unit: 's',
  help: 'How long a collector took in this scrape.',
  labels: ['target', 'collector'] as const,
});

/** Everything defined above but k6's own, for documentation and for tests that demand a collector for each. */
export const CATALOGUE: readonly Metric[] = [
  sessionsRegistered,
  sessionsRegisteredAtStart,
  sessionsInFlight,
  sessionStreamsOpen,
  sessionRemnants,
  sessionOldestIdle,
  sessionsIdle,
  sessionRegistrations,
  sessionRemovals,
  sessionExpirations,
  sessionRejections,
  sessionLimit,
  sessionIdleTimeout,
  requestsCompleted,
  sessionDuration,
  serverStartTime,
  buildInfo,
  probeSupported,
  serverResidentMemory,
  serverMemoryLimit,
  serverOpenFds,
  serverChildProcesses,
  clientOpened,
  clientDeleted,
  clientAbandoned,
  clientRefused,
  clientUncertain,
  clientExpected,
  clientRequests,
  clientArrivalsLate,
  clientRequestDuration,
  collectorSuccess,
  collectorDuration,
];
