/** A synthetic recording: one arm of the case `delete` that was sampled for hours. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { deleteCase } from '../../src/cases/delete.ts';
import type { OpRecord, RecordingRecord, SampleRecord } from '../../src/recording/schema.ts';
import { HEADER } from './sessions.ts';

const EVERY_MS = 100;
const STEPS = ['open', 'initialized', 'call', 'delete'] as const;

/** Writes `samples` samples and `sessions` complete sessions, spread evenly over the time in order. */
export async function writeSynthetic(file: string, samples: number, sessions: number): Promise<void> {
  const out = createWriteStream(file);
  const write = async (record: RecordingRecord): Promise<void> => {
    if (!out.write(`${JSON.stringify(record)}\n`)) await once(out, 'drain');
  };
  for (const record of opening()) await write(record);
  let played = 0;
  for (let i = 0; i < samples; i++) {
    const t = 10 + i * EVERY_MS;
    // A session takes its four steps between two samples.
    for (; played < ((i + 1) * sessions) / samples; played++)
      for (const op of session(played, t + 1)) await write(op);
    await write(sample(t, played));
  }
  const end = 10 + samples * EVERY_MS;
  await write({ type: 'phase', arm: 'a1', phase: 'settle', stage: 'settle', t: end });
  await write({ ...sample(end + 1000, played), settled: true });
  await write({ type: 'arm-end', arm: 'a1', outcome: 'measured', t: end + 2000 });
  await write({ type: 'end', reason: 'complete', t: end + 2001 });
  out.end();
  await once(out, 'close');
}

function opening(): RecordingRecord[] {
  const abilities = { probe: true, pid: true, settings: [] };
  const build = { build: 'synthetic', kind: 'python', sdk: 'mcp', version: '1.30.0' } as const;
  const { size, claims } = deleteCase;
  return [
    HEADER,
    { type: 'build', t: 0, ...build, packages: {}, config: {}, abilities },
    {
      type: 'arm',
      t: 1,
      arm: 'a1',
      build: 'synthetic',
      case: deleteCase.id,
      settings: { idleTimeoutSeconds: 1800, maxSessions: 10_000 },
      lacks: [],
      size,
      promised: [...claims],
      notPromised: [],
    },
    { type: 'target', t: 2, arm: 'a1', event: 'ready', startMs: 1, pid: 1 },
    { type: 'phase', t: 3, arm: 'a1', phase: 'load', stage: 'load' },
  ];
}

const session = (index: number, t: number): OpRecord[] =>
  STEPS.map((step, i) => ({
    type: 'op',
    arm: 'a1',
    stage: 'load',
    session: `load:${index}`,
    step,
    ms: 2,
    outcome: 'ok',
    status: 200,
    sid: true,
    t: t + 3 * (i + 1),
  }));

/** Up to a million, and never the same twice in a row: what a real recording has in its fields. */
const wobble = (t: number): number => (t * 7919) % 1_000_003;

function sample(t: number, played: number): SampleRecord {
  const manager = {
    worker: '1',
    manager: '0',
    registered: 0,
    registeredAtStart: 0,
    registrations: played,
    removals: played,
    expirations: 0,
    rejections: 0,
    inFlight: 0,
    streamsOpen: 0,
    remnants: 0,
    startedAt: 1_700_000_000,
    takenAt: 1_700_000_000 + t / 1000,
    oldestIdleSeconds: wobble(t) / 7e5,
    idleTimeoutSeconds: 1800,
    sessionLimit: 10_000,
    requestsCompleted: 4 * played,
  };
  const memory = { rssBytes: 4096 * (15_000 + (wobble(t) % 999)), fds: 12, children: 0, limitBytes: null };
  return {
    type: 'sample',
    arm: 'a1',
    sessions: { supported: true, managers: [manager] },
    memory,
    requests: 4 * played,
    t,
  };
}
