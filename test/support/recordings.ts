/** Lines of recordings, and random samples. */
import fc from 'fast-check';
import { assemble, type Recording } from '../../src/recording/reader.ts';
import {
  RECORDING_SCHEMA,
  type ArmRecord,
  type BuildRecord,
  type HeaderRecord,
  type ManagerSample,
  type SampleRecord,
} from '../../src/recording/schema.ts';

export const HEADER: HeaderRecord = {
  type: 'header',
  schema: RECORDING_SCHEMA,
  tool: { name: 'mcp-retention', version: '0.0.0' },
  host: { os: 'linux', arch: 'x64', cpus: 2, memoryBytes: 1, node: 'v20' },
  startedAt: '2026-01-01T00:00:00Z',
  command: 'check x',
  seed: 1,
  policy: { idleMaxSeconds: null, maxSessions: null },
  sampleEveryMs: 100,
};

export const ARM: ArmRecord = {
  type: 'arm',
  t: 0,
  arm: 'a1',
  build: 'b',
  case: 'delete',
  settings: {},
  lacks: [],
  size: { sessions: 1, warmUp: 0, concurrency: 1 },
  promised: [],
  notPromised: [],
};

export const BUILD: BuildRecord = {
  type: 'build',
  t: 0,
  build: ARM.build,
  kind: 'python',
  sdk: null,
  version: null,
  packages: {},
  config: {},
  abilities: { probe: true, pid: true, settings: [] },
};

export const lines = (...records: readonly object[]): string[] =>
  records.map((record) => JSON.stringify(record));

/** A recording of one arm. */
export const recordingOf = (...records: readonly object[]): Promise<Recording> =>
  assemble(lines(HEADER, ARM, ...records));

export const manager = (more: Partial<ManagerSample> = {}): ManagerSample => ({
  worker: '1',
  manager: '0',
  startedAt: 100,
  takenAt: 200,
  registered: 0,
  registeredAtStart: 0,
  registrations: 0,
  removals: 0,
  expirations: 0,
  rejections: 0,
  inFlight: 0,
  streamsOpen: 0,
  remnants: 0,
  oldestIdleSeconds: null,
  idleTimeoutSeconds: null,
  sessionLimit: null,
  requestsCompleted: 0,
  ...more,
});

export const sample = (t: number, more: Partial<SampleRecord> = {}): SampleRecord => ({
  type: 'sample',
  t,
  arm: 'a1',
  sessions: { supported: true, managers: [manager()] },
  memory: { rssBytes: 1024 ** 2, fds: 9, children: 0, limitBytes: null },
  requests: 0,
  ...more,
});

const count = fc.oneof(fc.nat(300), fc.nat(), fc.maxSafeNat());
/** JSON has no negative zero, no NaN and no infinity. */
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const time = number.map(Math.abs);
const positive = time.filter((value) => value > 0);
const orNull = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { nil: null });

const managers: fc.Arbitrary<ManagerSample> = fc.record(
  {
    worker: fc.string(),
    manager: fc.constantFrom('0', '1'),
    startedAt: number,
    takenAt: number,
    registered: count,
    registeredAtStart: count,
    registrations: count,
    removals: count,
    expirations: count,
    rejections: count,
    inFlight: count,
    streamsOpen: count,
    remnants: count,
    oldestIdleSeconds: orNull(time),
    idleTimeoutSeconds: orNull(positive),
    sessionLimit: orNull(count.map((value) => Math.max(1, value))),
    requestsCompleted: count,
    unknown: fc.array(fc.string(), { maxLength: 2 }),
  },
  { requiredKeys: Object.keys(manager()) as (keyof ManagerSample)[] },
);

/** Any samples that the schema takes, of arm a1. */
export const samples: fc.Arbitrary<SampleRecord> = fc.record(
  {
    type: fc.constant('sample' as const),
    t: time,
    arm: fc.constant('a1'),
    settled: fc.boolean(),
    sessions: orNull(fc.record({ supported: fc.boolean(), managers: fc.array(managers, { maxLength: 3 }) })),
    memory: orNull(
      fc.record({ rssBytes: count, fds: orNull(count), children: orNull(count), limitBytes: orNull(count) }),
    ),
    requests: count,
    reason: fc.string(),
  },
  { requiredKeys: ['type', 't', 'arm', 'sessions', 'memory', 'requests'] },
);
