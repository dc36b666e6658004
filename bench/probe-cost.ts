/** What the probe costs a real server: CPU time per session with it and without. */
import { setTimeout as delay } from 'node:timers/promises';
import { ProbeReader } from '../src/observe/sessions.ts';
import type { PreparedBuild } from '../src/targets/target.ts';
import { median } from '../src/verdict/statistics.ts';
import { alternating, pairedRatio, showRatio, type Benchmark, type Outcome } from './support/benchmark.ts';
import { cpuMsOf } from './support/cpu-time.ts';
import { preparePython, startPython, type PythonServer } from './support/python-server.ts';
import { byDriver, withFolder } from './support/sessions.ts';

const SESSIONS = 200;
const CONCURRENCY = 8;
const ROUNDS = 4;
/** Servers are started anew this often: no two processes of the same program cost quite the same. */
const STARTS = 4;
/** As often as a run reads it. */
const READ_EVERY_MS = 100;

/** CPU milliseconds of the server for one session. */
async function cpuPerSession(server: PythonServer): Promise<number> {
  const before = cpuMsOf(server.pid);
  await byDriver(server.url, SESSIONS, CONCURRENCY);
  return (cpuMsOf(server.pid) - before) / SESSIONS;
}

async function whileRead<T>(server: PythonServer, reader: ProbeReader, body: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const reading = (async () => {
    while (!over.signal.aborted) {
      await reader.read(server.probeDir);
      await delay(READ_EVERY_MS, undefined, { signal: over.signal }).catch(() => undefined);
    }
  })();
  try {
    return await body();
  } finally {
    over.abort();
    await reading;
  }
}

const ARMS = ['off', 'on', 'read'] as const;
type Arm = (typeof ARMS)[number];

/** A benchmark of the probe is worth nothing where the probe is not there, or there where it must not be. */
async function checkProbes(reader: ProbeReader, servers: Record<Arm, PythonServer>): Promise<void> {
  for (const arm of ARMS) {
    const { workers } = await reader.read(servers[arm].probeDir);
    if ((workers[0]?.snapshot.supported === true) !== (arm !== 'off'))
      throw new Error(`the probe is not as it must be: ${arm}`);
  }
}

/** Every arm has a server of its own, so that none runs with caches that another arm has warmed. */
async function measureOnce(build: PreparedBuild): Promise<Record<Arm, number[]>> {
  return withFolder(async (folder) => {
    const started: PythonServer[] = [];
    const start = async (arm: Arm): Promise<PythonServer> => {
      const server = await startPython(build, folder, arm, arm === 'off' ? 'off' : 'on');
      started.push(server);
      return server;
    };
    const reader = new ProbeReader();
    try {
      const servers = { off: await start('off'), on: await start('on'), read: await start('read') };
      await checkProbes(reader, servers);
      const contestants = {
        off: () => cpuPerSession(servers.off),
        on: () => cpuPerSession(servers.on),
        read: () => whileRead(servers.read, reader, () => cpuPerSession(servers.read)),
      };
      return await alternating(contestants, ROUNDS);
    } finally {
      await reader.close();
      await Promise.all(started.map((server) => server.stop()));
    }
  });
}

function outcome(results: Record<Arm, number[]>): Outcome {
  const said = { off: 'no probe', on: 'probe', read: `probe, read every ${READ_EVERY_MS} ms` };
  const figures = ARMS.map((arm) => ({
    server: said[arm],
    cpuMsPerSession: median(results[arm]),
    toNone: pairedRatio(results[arm], results.off),
  }));
  return {
    head: ['server', 'CPU ms/session', 'to no probe'],
    rows: figures.map((f) => [f.server, f.cpuMsPerSession.toFixed(2), showRatio(f.toNone)]),
    notes: [
      `CPU time (utime + stime) of python:mcp@1.30.0 for sessions of initialize, initialized, tools/call, DELETE: ${SESSIONS} a round, ${CONCURRENCY} at a time, three servers side by side.`,
      `Medians of ${STARTS * ROUNDS} rounds in alternating order, of ${STARTS} starts of the servers with the first round of each discarded; ratios within each round, median (lowest–highest).`,
    ],
    figures: {
      sessions: SESSIONS,
      concurrency: CONCURRENCY,
      starts: STARTS,
      rounds: STARTS * ROUNDS,
      servers: figures,
    },
  };
}

async function run(): Promise<Outcome> {
  const build = await preparePython();
  const results: Record<Arm, number[]> = { off: [], on: [], read: [] };
  for (let i = 0; i < STARTS; i++) {
    const once = await measureOnce(build);
    for (const arm of ARMS) results[arm].push(...once[arm]);
  }
  return outcome(results);
}

export const probeCost: Benchmark = { name: 'probe-cost', title: 'Cost of the probe', run };
