/** A watched registry as the probe's contract says it. */
import { SNAPSHOT_SCHEMA, type ManagerSnapshot, type Snapshot } from '../observe/snapshot.ts';
import { TOOL } from '../version.ts';
import type { RegistryCounts } from './registry.ts';

const PROCESS_START = Date.now() / 1000 - process.uptime();

/** A registry knows nothing of requests, nor why an entry leaves it. */
const NEVER_TOLD = [
  'expirations',
  'rejections',
  'inFlight',
  'streamsOpen',
  'idle',
  'idleTimeoutSeconds',
  'sessionLimit',
  'requestsCompleted',
  'endedSessionDurations',
] as const;

export function snapshotOf(counts: RegistryCounts): Snapshot {
  return {
    schema: SNAPSHOT_SCHEMA,
    probe: { name: 'node', version: TOOL.version },
    sdk: null,
    supported: true,
    problems: [],
    pid: process.pid,
    processStartTime: PROCESS_START,
    takenAt: Date.now() / 1000,
    managers: [managerOf(counts)],
  };
}

function managerOf({ remnants, ...counts }: RegistryCounts): ManagerSnapshot {
  return {
    manager: '0',
    stateless: false,
    ...counts,
    expirations: 0,
    rejections: 0,
    inFlight: 0,
    streamsOpen: 0,
    remnants: remnants ?? 0,
    oldestIdleSeconds: null,
    idleOlderThan: [],
    idleTimeoutSeconds: null,
    sessionLimit: null,
    unsupportedSettings: [],
    requestsCompleted: 0,
    endedSessionDurations: { buckets: [], sum: 0, count: 0 },
    unknown: [...NEVER_TOLD, ...(remnants === null ? (['remnants'] as const) : [])],
  };
}
