/**
 * The probe's contract, version 1: what a probe inside a server process answers, and where it listens.
 *
 * A probe is an HTTP/1.1 server. It answers `GET /v1/snapshot` with a Snapshot and `GET /v1/process` with a
 * ProcessMessage, both as application/json; anything else is 404.
 *
 * It listens on a Unix socket `<probe-dir>/<pid>.sock`, one per worker process, where <probe-dir> is the
 * environment variable MCP_RETENTION_PROBE_DIR, a directory with mode 0700. Where
 * MCP_RETENTION_PROBE_LISTEN is `host:port` on loopback, it listens there instead (port 0 picks one) and
 * writes the address in one line to a regular file `<probe-dir>/<pid>.addr`, if a probe directory is set as well.
 * MCP_RETENTION_PROBE=off switches it off.
 *
 * A snapshot says each thing once: no two managers have one id, no two idle ages of a manager are the same, and its
 * buckets ascend and are cumulative. JSON Schema cannot say that, but what breaks it is no snapshot all the same: a
 * reader refuses it whole, because it could only add up or overwrite what contradicts itself.
 */
import { z } from 'zod';

export const PROBE_DIR_VARIABLE = 'MCP_RETENTION_PROBE_DIR';
export const PROBE_LISTEN_VARIABLE = 'MCP_RETENTION_PROBE_LISTEN';
export const PROBE_SWITCH_VARIABLE = 'MCP_RETENTION_PROBE';
export const SNAPSHOT_SCHEMA = 'mcp-retention/probe-snapshot/v1';
export const PROCESS_SCHEMA = 'mcp-retention/probe-process/v1';

/** The ages, in seconds, that a probe counts idle sessions beyond. */
export const IDLE_AGES = [1, 10, 60, 300, 1800, 3600, 21600, 86400] as const;

/** What a probe may be unable to tell: one that watches a registry from outside sees no requests, for example. */
export const TELLABLE = [
  'expirations',
  'rejections',
  'inFlight',
  'streamsOpen',
  'remnants',
  'idle',
  'idleTimeoutSeconds',
  'sessionLimit',
  'requestsCompleted',
  'endedSessionDurations',
] as const;

const count = z.number().int().nonnegative();

/** The index of the first entry whose key an earlier one has; -1: there is none. */
function repetition<T>(entries: readonly T[], keyOf: (entry: T) => unknown): number {
  const seen = new Set<unknown>();
  return entries.findIndex((entry) => {
    const key = keyOf(entry);
    const known = seen.has(key);
    seen.add(key);
    return known;
  });
}

const idleCounts = z
  .array(z.object({ seconds: z.number(), sessions: count }))
  .superRefine((ages, context) => {
    const index = repetition(ages, ({ seconds }) => seconds);
    if (index >= 0)
      context.addIssue({
        code: 'custom',
        path: [index, 'seconds'],
        message: 'an age that stands here twice',
      });
  })
  .meta({ description: 'No two entries have the same seconds.' });

/** Lifetimes of ended sessions in seconds: cumulative buckets as Prometheus has them, without +Inf. */
const durations = z
  .object({
    buckets: z.array(z.object({ le: z.number(), count: count })),
    sum: z.number().nonnegative(),
    count: count,
  })
  .superRefine(({ buckets, count }, context) => {
    const wrong = (index: number, field: 'le' | 'count', message: string): void =>
      context.addIssue({ code: 'custom', path: ['buckets', index, field], message });
    buckets.forEach((bucket, index) => {
      const before = buckets[index - 1];
      if (before !== undefined && bucket.le <= before.le)
        wrong(index, 'le', 'not above the bucket before it');
      if (before !== undefined && bucket.count < before.count)
        wrong(index, 'count', 'less than in the bucket before it, although buckets are cumulative');
      if (bucket.count > count) wrong(index, 'count', 'more than the count of all');
    });
  })
  .meta({ description: 'le ascends from bucket to bucket; counts never fall, nor exceed the count of all.' });

/** Counts of one session manager. Counters start at 0 with the process; `registered` is the registry's own size. */
export const managerSnapshot = z.object({
  /** Stable within the process: `0`, `1`, … in the order in which managers were made. */
  manager: z.string(),
  stateless: z.boolean(),
  registered: count,
  registeredAtStart: count,
  registrations: count,
  removals: count,
  /** Removals by idle expiry: a subset of removals. */
  expirations: count,
  /** Openings refused because the cap was reached. */
  rejections: count,
  /** Registered sessions with a request or stream being served now. */
  inFlight: count,
  /** GET event streams open now. */
  streamsOpen: count,
  /** Registered entries whose transport has terminated. */
  remnants: count,
  /** Age of the registered session that has been idle longest; null when none is idle. */
  oldestIdleSeconds: z.number().nonnegative().nullable(),
  /** Registered idle sessions older than each of IDLE_AGES; ages may be quantised to a second. */
  idleOlderThan: idleCounts,
  /** null: no timeout, or the build has no such setting (see unsupportedSettings). */
  idleTimeoutSeconds: z.number().positive().nullable(),
  /** null: no cap, or the build has no such setting (see unsupportedSettings). */
  sessionLimit: z.number().int().positive().nullable(),
  unsupportedSettings: z.array(z.enum(['idleTimeout', 'maxSessions'])),
  requestsCompleted: count,
  endedSessionDurations: durations,
  /** What this probe cannot tell: it says 0, null or [] there, which means nothing. Absent: it tells all. */
  unknown: z.array(z.enum(TELLABLE)).optional(),
});

export const snapshotSchema = z.object({
  schema: z.literal(SNAPSHOT_SCHEMA),
  probe: z.object({ name: z.string(), version: z.string() }),
  sdk: z.object({ package: z.string(), version: z.string() }).nullable(),
  /** False when the SDK has a shape that the probe does not know, or the probe met an error: see problems. */
  supported: z.boolean(),
  problems: z.array(z.object({ where: z.string(), count: z.number().int().positive(), last: z.string() })),
  pid: z.number().int().positive(),
  /** Unix time in seconds. */
  processStartTime: z.number(),
  /** Unix time in seconds at which these counts were read, all at once. */
  takenAt: z.number(),
  managers: z
    .array(managerSnapshot)
    .superRefine((managers, context) => {
      const index = repetition(managers, ({ manager }) => manager);
      if (index >= 0)
        context.addIssue({
          code: 'custom',
          path: [index, 'manager'],
          message: 'an id that another manager has',
        });
    })
    .meta({ description: 'No two entries have the same manager.' }),
});

/** The kernel's own text, passed on unread: for observers that cannot see this process's /proc. */
export const processMessageSchema = z.object({
  schema: z.literal(PROCESS_SCHEMA),
  pid: z.number().int().positive(),
  takenAt: z.number(),
  /** Path → content, or null where it cannot be read: /proc/self/{stat,statm,status,cgroup}, the cgroup's memory.max (version 1: memory.limit_in_bytes) and memory.current. */
  files: z.record(z.string(), z.string().nullable()),
  /** Path → number of entries, or null: /proc/self/fd. */
  entries: z.record(z.string(), count.nullable()),
});

export type ManagerSnapshot = z.infer<typeof managerSnapshot>;
export type Snapshot = z.infer<typeof snapshotSchema>;
export type ProcessMessage = z.infer<typeof processMessageSchema>;

/** The build that a snapshot speaks of: `python:mcp@1.29.1`; null where the probe does not know the SDK. */
export const buildOf = ({ probe, sdk }: Snapshot): string | null =>
  sdk === null ? null : `${probe.name}:${sdk.package}@${sdk.version}`;
