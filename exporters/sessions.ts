/** Collector of what the probes say: one snapshot a worker, rendered as it is. */
import * as metrics from '../src/metrics/catalogue.ts';
import type { Metric } from '../src/metrics/metric.ts';
import type { ProbeReader } from '../src/observe/sessions.ts';
import type { ManagerSnapshot, Snapshot } from '../src/observe/snapshot.ts';
import type { Read } from './collected.ts';
import type { Sheet } from './sheet.ts';
import type { Worker } from './workers.ts';

export interface SessionsReading {
  readonly worker: Worker;
  readonly snapshot: Snapshot;
}

export async function readSessions(
  worker: Worker,
  reader: ProbeReader,
  timeoutMs: number,
): Promise<Read<SessionsReading>> {
  const outcome = await reader.snapshotOf(worker.probe, { timeoutMs });
  if (outcome === null) return null;
  return 'value' in outcome
    ? { worker, snapshot: outcome.value }
    : { worker: worker.probe.worker, reason: outcome.reason };
}

type ManagerLabel = (typeof metrics.sessionsRegistered.labels)[number];
export type WorkerLabels = Readonly<Record<'target' | 'build' | 'worker', string>>;
type Extra = Readonly<Record<string, string>>;

type Told = NonNullable<ManagerSnapshot['unknown']>[number];
type OfManager = readonly [Metric<ManagerLabel>, (manager: ManagerSnapshot) => number | null, Told?];

/** What is one number of a manager's snapshot, and the name under which a probe says that it cannot tell it. */
const OF_MANAGER: readonly OfManager[] = [
  [metrics.sessionsRegistered, ({ registered }) => registered],
  [metrics.sessionsRegisteredAtStart, ({ registeredAtStart }) => registeredAtStart],
  [metrics.sessionsInFlight, ({ inFlight }) => inFlight, 'inFlight'],
  [metrics.sessionStreamsOpen, ({ streamsOpen }) => streamsOpen, 'streamsOpen'],
  [metrics.sessionRemnants, ({ remnants }) => remnants, 'remnants'],
  [metrics.sessionOldestIdle, ({ oldestIdleSeconds }) => oldestIdleSeconds ?? 0, 'idle'],
  [metrics.sessionRegistrations, ({ registrations }) => registrations],
  [metrics.sessionRemovals, ({ removals }) => removals],
  [metrics.sessionExpirations, ({ expirations }) => expirations, 'expirations'],
  [metrics.sessionRejections, ({ rejections }) => rejections, 'rejections'],
  [metrics.sessionLimit, ({ sessionLimit }) => sessionLimit, 'sessionLimit'],
  [metrics.sessionIdleTimeout, ({ idleTimeoutSeconds }) => idleTimeoutSeconds, 'idleTimeoutSeconds'],
  [metrics.requestsCompleted, ({ requestsCompleted }) => requestsCompleted, 'requestsCompleted'],
];

export function renderSessions(sheet: Sheet, labels: WorkerLabels, extra: Extra, snapshot: Snapshot): void {
  const { sdk, supported, processStartTime, managers } = snapshot;
  const known = { sdk: sdk?.package ?? 'unknown', version: sdk?.version ?? 'unknown' };
  sheet.add(metrics.serverStartTime, labels, processStartTime, extra);
  sheet.add(metrics.buildInfo, { ...labels, ...known }, 1, extra);
  sheet.add(metrics.probeSupported, labels, supported ? 1 : 0, extra);
  for (const manager of managers) {
    const own = { ...labels, manager: manager.manager };
    const tells = (what: Told | undefined): boolean => !what || manager.unknown?.includes(what) !== true;
    for (const [metric, value, what] of OF_MANAGER)
      sheet.add(metric, own, tells(what) ? value(manager) : null, extra);
    for (const { seconds, sessions } of manager.idleOlderThan)
      sheet.add(metrics.sessionsIdle, { ...own, older_than: String(seconds) }, sessions, extra);
    if (tells('endedSessionDurations'))
      sheet.add(metrics.sessionDuration, own, manager.endedSessionDurations, extra);
  }
}
