/** What one look at the registry costs, inside the server and on the reader's side. */
import path from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { play } from '../src/cases/case.ts';
import { hold, initialized, open } from '../src/cases/steps.ts';
import { ProbeReader } from '../src/observe/sessions.ts';
import { installEnvironment } from '../src/targets/environment.ts';
import { PYTHON_PROBE } from '../src/targets/paths.ts';
import { percentile, type Benchmark, type Outcome } from './support/benchmark.ts';
import { preparePython, startPython } from './support/python-server.ts';
import { playWithDriver, withFolder } from './support/sessions.ts';

const READS = 300;
/** Registered on the live server that is read. */
const LIVE_SESSIONS = 500;

const inside = z.object({
  python: z.string(),
  results: z.array(
    z.object({
      sessions: z.number(),
      snapshot_ms: z.object({ p50: z.number(), p95: z.number() }),
      probe_bytes_per_session: z.number(),
      probe_us_per_request: z.number(),
    }),
  ),
});

interface Timing {
  readonly sessions: number;
  readonly p50: number;
  readonly p95: number;
}

async function insideServer(): Promise<z.infer<typeof inside>> {
  const { python } = await installEnvironment('1.30.0', {
    what: 'python:mcp@1.30.0',
    signal: new AbortController().signal,
    log: () => undefined,
  });
  const { stdout } = await execa(python, ['bench_snapshot.py'], { cwd: path.resolve(PYTHON_PROBE) });
  return inside.parse(JSON.parse(stdout));
}

/** Milliseconds of ProbeReader.read on a live server, over its Unix socket. */
async function readersSide(): Promise<Timing[]> {
  const build = await preparePython();
  return withFolder(async (folder) => {
    const server = await startPython(build, folder, 'probe', 'on');
    const reader = new ProbeReader();
    try {
      const empty = await timedReads(reader, server.probeDir, 0);
      const fill = play('fill', 'load', LIVE_SESSIONS, 8, () => [open(), initialized(), hold()]);
      await playWithDriver(server.url, fill);
      return [empty, await timedReads(reader, server.probeDir, LIVE_SESSIONS)];
    } finally {
      await reader.close();
      await server.stop();
    }
  });
}

async function timedReads(reader: ProbeReader, dir: string, sessions: number): Promise<Timing> {
  const times: number[] = [];
  for (let i = 0; i < READS; i++) {
    const began = performance.now();
    const { workers } = await reader.read(dir);
    times.push(performance.now() - began);
    if (workers[0]?.snapshot.managers[0]?.registered !== sessions) throw new Error('the probe counts wrong');
  }
  return { sessions, p50: percentile(times, 0.5), p95: percentile(times, 0.95) };
}

async function run(): Promise<Outcome> {
  const { python, results } = await insideServer();
  const reads = await readersSide();
  const [few, many] = results;
  const ratio = (many?.snapshot_ms.p50 ?? NaN) / (few?.snapshot_ms.p50 ?? NaN);
  const row = (what: string, { sessions, p50, p95 }: Timing): string[] => [
    what,
    sessions.toLocaleString('en'),
    p50.toFixed(4),
    p95.toFixed(4),
  ];
  return {
    head: ['what', 'sessions', 'median ms', '95 % ms'],
    rows: [
      ...results.map(({ sessions, snapshot_ms }) =>
        row('snapshot in the server', { sessions, ...snapshot_ms }),
      ),
      ...reads.map((timing) => row('ProbeReader.read of a live server', timing)),
    ],
    notes: [
      `Snapshots by probes/python/bench_snapshot.py on Python ${python}, each after 50 requests; reads over the Unix socket of python:mcp@1.30.0, ${READS} one after another.`,
      `A snapshot of ${many?.sessions.toLocaleString('en') ?? '?'} sessions takes ${ratio.toFixed(2)} times as long as one of ${few?.sessions ?? '?'}. The probe adds ${many?.probe_us_per_request ?? NaN} µs to a request and ${many?.probe_bytes_per_session ?? NaN} bytes to a session.`,
    ],
    figures: { python, inside: results, ratio, reads },
  };
}

export const snapshot: Benchmark = { name: 'snapshot', title: 'A look at the registry', run };
