/**
 * The recording, version 2: an append-only NDJSON file with everything that a verdict needs. One JSON object
 * a line, told apart by `type`. Times `t` are milliseconds since the recording began, on a monotonic clock.
 * Session ids and tokens never stand in it: a session is named by the plan that opened it (`load:12`).
 *
 * Version 1 had no comparison, no block, no sweep and no allowances; every version 1 recording is also one of
 * version 2, but for the name in its header.
 */
import { z } from 'zod';

export const RECORDING_SCHEMA = 'mcp-retention/recording/v2';
/** Versions that this release reads. */
export const READABLE_SCHEMAS = ['mcp-retention/recording/v1', RECORDING_SCHEMA] as const;

const t = z.number().nonnegative();
const count = z.number().int().nonnegative();

/** First line: who measured, where, under which policy. */
export const headerRecord = z.object({
  type: z.literal('header'),
  schema: z.enum(READABLE_SCHEMAS),
  tool: z.object({ name: z.string(), version: z.string() }),
  host: z.object({
    os: z.string(),
    arch: z.string(),
    cpus: count,
    memoryBytes: count,
    node: z.string(),
  }),
  /** ISO 8601, UTC. */
  startedAt: z.string(),
  command: z.string(),
  seed: z.number().int(),
  policy: z.object({ idleMaxSeconds: z.number().positive().nullable(), maxSessions: count.nullable() }),
  sampleEveryMs: z.number().positive(),
  /** Claims whose failure is allowed, each with its reason. Since version 2. */
  allow: z.record(z.string(), z.string()).optional(),
});

/** Where arms that were taken over from another recording were measured. */
export const originRecord = headerRecord.pick({
  tool: true,
  host: true,
  startedAt: true,
  policy: true,
  seed: true,
});

/** Two builds of this recording are compared. Since version 2. */
export const comparisonRecord = z.object({
  type: z.literal('comparison'),
  t,
  baseline: z.string(),
  candidate: z.string(),
  /** null: measured in this run. Otherwise the arms keep the times of the recording that they come from. */
  origins: z.object({ baseline: originRecord.nullable(), candidate: originRecord.nullable() }),
  /** null: speed was not asked for. */
  performance: z
    .object({
      budgetSeconds: z.number().positive(),
      /** The smallest relative change worth reporting: 0.1 is 10 %. */
      smallestEffect: z.number().positive(),
      /** Whether worse speed fails the check. */
      decides: z.boolean(),
    })
    .nullable(),
});

/** Versions of a package are measured one after the other. Since version 2. */
export const sweepRecord = z.object({
  type: z.literal('sweep'),
  t,
  package: z.string(),
  /** Every published version in the range, oldest first. */
  versions: z.array(z.string()),
  /** Those of them that were taken back from the index; absent: none is known. */
  yanked: z.array(z.string()).optional(),
  mode: z.enum(['all', 'bisect']),
});

/** A build: the program, its version, what was installed with it. */
export const buildRecord = z.object({
  type: z.literal('build'),
  t,
  build: z.string(),
  kind: z.enum(['python', 'command', 'url']),
  sdk: z.string().nullable(),
  version: z.string().nullable(),
  /** Runtime and installed packages, name → version, as far as they are known. */
  packages: z.record(z.string(), z.string()),
  /** Configuration beyond the defaults, without secrets. */
  config: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  abilities: z.object({
    probe: z.boolean(),
    /** A process id is known: memory, descriptors and children can be read. */
    pid: z.boolean(),
    /** Settings that we can hand to this build. */
    settings: z.array(z.enum(['idleTimeout', 'maxSessions'])),
  }),
});

/** An arm begins: one run of a case on one build. */
export const armRecord = z.object({
  type: z.literal('arm'),
  t,
  arm: z.string(),
  build: z.string(),
  case: z.string(),
  /** Settings in force as far as they are known: a number, null for none, absent for unknown. */
  settings: z.object({
    idleTimeoutSeconds: z.number().positive().nullable().optional(),
    maxSessions: z.number().int().positive().nullable().optional(),
  }),
  /** Settings the case wanted and this build lacks. */
  lacks: z.array(z.enum(['idleTimeout', 'maxSessions'])),
  size: z.object({ sessions: count, warmUp: count, concurrency: count }),
  /** Claims that this target can be asked. */
  promised: z.array(z.string()),
  /** Claims of the case that it cannot be asked, and why. */
  notPromised: z.array(z.object({ claim: z.string(), reason: z.string() })),
});

/** What became of the target's process or address. */
export const targetRecord = z.object({
  type: z.literal('target'),
  t,
  arm: z.string(),
  event: z.enum(['ready', 'failed', 'died', 'stopped']),
  /** Milliseconds from start to ready. */
  startMs: z.number().nonnegative().optional(),
  pid: count.optional(),
  reason: z.string().optional(),
});

/** A stage begins; it lasts until the next phase record of the same arm. */
export const phaseRecord = z.object({
  type: z.literal('phase'),
  t,
  arm: z.string(),
  phase: z.enum(['warm-up', 'load', 'settle', 'expiry', 'after', 'clean-up', 'end']),
  stage: z.string(),
});

/** One step of one session, written when it ended. It began at t − ms. */
export const opRecord = z.object({
  type: z.literal('op'),
  t,
  ms: z.number().nonnegative(),
  arm: z.string(),
  stage: z.string(),
  /** The plan that opened it: `stage:index`, `/2` and so on for a further session of the same plan. */
  session: z.string(),
  step: z.string(),
  /**
   * ok: answered as asked. refused: answered with an HTTP or JSON-RPC error. broken: the connection broke or
   * the deadline passed before the answer: what the server did is uncertain. local: nothing was sent.
   */
  outcome: z.enum(['ok', 'refused', 'broken', 'local']),
  status: z.number().int().optional(),
  /** JSON-RPC error code. */
  code: z.number().int().optional(),
  /** The HTTP method of a request that a claim looks at, or the kind of a refused opening. */
  kind: z.string().optional(),
  /** The answer carried a session id (never the id itself). */
  sid: z.boolean().optional(),
  /** For a further session of the same plan: its id differs from the one before. */
  fresh: z.boolean().optional(),
  note: z.string().optional(),
});

/** A flood's sum: requests that bear no session. */
export const floodRecord = z.object({
  type: z.literal('flood'),
  t,
  ms: z.number().nonnegative(),
  arm: z.string(),
  stage: z.string(),
  sent: count,
  /** Status → answers. */
  statuses: z.record(z.string(), count),
  /** Openings that were admitted, and of these how many were closed again. */
  admitted: count,
  closed: count,
  broken: count,
});

/** One manager's counts in a sample, as the probe gave them. */
export const managerSample = z.object({
  worker: z.string(),
  manager: z.string(),
  /** Start of the worker process and moment of the snapshot, in Unix seconds by the server's clock. */
  startedAt: z.number(),
  takenAt: z.number(),
  registered: count,
  registeredAtStart: count,
  registrations: count,
  removals: count,
  expirations: count,
  rejections: count,
  inFlight: count,
  streamsOpen: count,
  remnants: count,
  oldestIdleSeconds: z.number().nonnegative().nullable(),
  idleTimeoutSeconds: z.number().positive().nullable(),
  sessionLimit: z.number().int().positive().nullable(),
  requestsCompleted: count,
  /** What the probe cannot tell: its 0 or null there means nothing. Absent: it tells all. Since version 2. */
  unknown: z.array(z.string()).optional(),
});

/** The three series at one moment, kept apart; null where a series could not be read. */
export const sampleRecord = z.object({
  type: z.literal('sample'),
  t,
  arm: z.string(),
  /** A sample taken after the server had settled: counts can be judged. */
  settled: z.boolean().optional(),
  sessions: z.object({ supported: z.boolean(), managers: z.array(managerSample) }).nullable(),
  memory: z
    .object({
      rssBytes: count,
      fds: count.nullable(),
      children: count.nullable(),
      /** Memory limit of the server's cgroup or machine. */
      limitBytes: count.nullable(),
    })
    .nullable(),
  /** Requests that the client side has seen completed in this arm. */
  requests: count,
  /** Why sessions or memory are null. */
  reason: z.string().optional(),
});

/**
 * One build in one block of the performance comparison: a fresh process, its calls in slices that alternate with
 * those of the other build. Since version 2.
 */
export const blockRecord = z.object({
  type: z.literal('block'),
  t,
  build: z.string(),
  /** Blocks count from 0; both builds have one of each number. */
  block: count,
  /** Milliseconds from start to ready; null for a server that someone else runs. */
  startMs: z.number().nonnegative().nullable(),
  /** Resident memory that one more open session takes, in KiB; null where memory cannot be read. */
  kibPerSession: z.number().nullable(),
  liveSessions: count,
  slices: z.array(
    z.object({
      /** Its place among the slices of both builds in this block, from 0. */
      place: count,
      calls: count,
      failed: count,
      ms: z.number().positive(),
      p50Ms: z.number().nonnegative(),
      p99Ms: z.number().nonnegative(),
      /** Share of the slice's time that the load side's event loop was busy: near 1, it was the bottleneck. */
      loadCpu: z.number().nonnegative(),
    }),
  ),
  /** Why the block could not be measured. */
  reason: z.string().optional(),
});

/** Something a reader should know: a bottleneck, a fallback. */
export const noticeRecord = z.object({
  type: z.literal('notice'),
  t,
  arm: z.string().optional(),
  code: z.string(),
  text: z.string(),
});

export const armEndRecord = z.object({
  type: z.literal('arm-end'),
  t,
  arm: z.string(),
  outcome: z.enum(['measured', 'failed', 'interrupted']),
  reason: z.string().optional(),
});

/** Last line of a whole recording. A recording without it was cut. */
export const endRecord = z.object({
  type: z.literal('end'),
  t,
  reason: z.enum(['complete', 'interrupted', 'failed']),
});

export const recordSchema = z.discriminatedUnion('type', [
  headerRecord,
  comparisonRecord,
  sweepRecord,
  buildRecord,
  armRecord,
  targetRecord,
  phaseRecord,
  opRecord,
  floodRecord,
  sampleRecord,
  blockRecord,
  noticeRecord,
  armEndRecord,
  endRecord,
]);

export type HeaderRecord = z.infer<typeof headerRecord>;
export type OriginRecord = z.infer<typeof originRecord>;
export type ComparisonRecord = z.infer<typeof comparisonRecord>;
export type SweepRecord = z.infer<typeof sweepRecord>;
export type BlockRecord = z.infer<typeof blockRecord>;
export type BuildRecord = z.infer<typeof buildRecord>;
export type ArmRecord = z.infer<typeof armRecord>;
export type TargetRecord = z.infer<typeof targetRecord>;
export type PhaseRecord = z.infer<typeof phaseRecord>;
export type OpRecord = z.infer<typeof opRecord>;
export type FloodRecord = z.infer<typeof floodRecord>;
export type ManagerSample = z.infer<typeof managerSample>;
export type SampleRecord = z.infer<typeof sampleRecord>;
export type NoticeRecord = z.infer<typeof noticeRecord>;
export type ArmEndRecord = z.infer<typeof armEndRecord>;
export type EndRecord = z.infer<typeof endRecord>;
export type RecordingRecord = z.infer<typeof recordSchema>;
/** A record before the writer gives it its time. */
export type Untimed<R> = R extends RecordingRecord ? Omit<R, 't'> : never;
