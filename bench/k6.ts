/**
 * How many sessions one instance of k6 brings, beside our driver: against the stub, and against a real Python server,
 * in one run. k6's rows need K6_BIN.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { median } from '../src/verdict/statistics.ts';
import { alternating, pairedRatio, showRatio, type Benchmark, type Outcome } from './support/benchmark.ts';
import { cpuMsOf } from './support/cpu-time.ts';
import { preparePython, startPython } from './support/python-server.ts';
import { byDriver, withFolder } from './support/sessions.ts';
import { startStubProcess } from './support/stub-process.ts';

const CONCURRENCY = 50;
const ROUNDS = 5;
const SIZES = { stub: 4_000, server: 1_200 } as const;
const SCRIPT = fileURLToPath(new URL('../loadtests/delete.ts', import.meta.url));
/** The script's own sessions besides: warm-up, the ones looked at afterwards, the first and the last. */
const BESIDES = { warmUp: 100 } as const;

const K6 = process.env['K6_BIN'] ?? null;

interface Round {
  readonly perSecond: number;
  /** CPU seconds of the load side alone, per session. */
  readonly cpuMs: number;
}

async function byOurs(url: string, sessions: number): Promise<Round> {
  const cpu = process.cpuUsage();
  const began = performance.now();
  const seconds = ((await byDriver(url, sessions, CONCURRENCY)) - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: sessions / seconds, cpuMs: (user + system) / 1000 / sessions };
}

/** What k6 takes for no sessions at all is taken off: it is the start of the program and its scripts. */
async function byK6(url: string, sessions: number): Promise<Round> {
  const most = await k6Run(url, sessions);
  const least = await k6Run(url, 1);
  return {
    perSecond: ((sessions - 1) / (most.ms - least.ms)) * 1000,
    cpuMs: (most.cpuMs - least.cpuMs) / (sessions - 1),
  };
}

async function k6Run(url: string, sessions: number): Promise<{ ms: number; cpuMs: number }> {
  const env = { TARGET: url, SESSIONS: String(sessions), VUS: String(CONCURRENCY), RUN: 'bench' };
  const given = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const began = performance.now();
  const child = spawn(K6 ?? '', ['run', '--quiet', '--address', '', SCRIPT, ...given], { stdio: 'ignore' });
  const { pid } = child;
  let cpuMs = 0;
  const read = (): void => {
    try {
      if (pid !== undefined) cpuMs = cpuMsOf(pid);
    } catch {
      // It has just ended: what was read last counts.
    }
  };
  const timer = setInterval(read, 10);
  const [code] = (await once(child, 'exit')) as [number];
  clearInterval(timer);
  if (code !== 0) throw new Error(`k6 ended with ${code}`);
  return { ms: performance.now() - began, cpuMs };
}

const NAMES = { driver: 'mcp-retention', k6: 'k6' } as const;
type Player = keyof typeof NAMES;

interface Figures {
  readonly server: string;
  readonly player: Player;
  readonly perSecond: number;
  readonly perCpuSecond: number;
  readonly speed: string;
  readonly cpu: string;
}

async function against(server: string, url: string, sessions: number): Promise<Figures[]> {
  const players: Partial<Record<Player, () => Promise<Round>>> = {
    driver: () => byOurs(url, sessions),
    ...(K6 !== null && { k6: () => byK6(url, sessions) }),
  };
  const results = await alternating(players as Record<Player, () => Promise<Round>>, ROUNDS);
  const of = (player: Player, what: keyof Round): number[] => results[player].map((round) => round[what]);
  return (Object.keys(players) as Player[]).map((player) => ({
    server,
    player,
    perSecond: median(of(player, 'perSecond')),
    perCpuSecond: 1000 / median(of(player, 'cpuMs')),
    speed: showRatio(pairedRatio(of(player, 'perSecond'), of('driver', 'perSecond'))),
    cpu: showRatio(pairedRatio(of(player, 'cpuMs'), of('driver', 'cpuMs'))),
  }));
}

async function againstStub(): Promise<Figures[]> {
  const stub = await startStubProcess();
  try {
    return await against('stub', stub.url, SIZES.stub);
  } finally {
    await stub.stop();
  }
}

async function againstServer(): Promise<Figures[]> {
  const build = await preparePython();
  return withFolder(async (folder) => {
    const server = await startPython(build, folder, 'server', 'off');
    try {
      return await against('Python server (mcp 1.30.0)', server.url, SIZES.server);
    } finally {
      await server.stop();
    }
  });
}

async function run(): Promise<Outcome> {
  const figures = [...(await againstStub()), ...(await againstServer())];
  return {
    head: ['server', 'load by', 'sessions/s', 'sessions per CPU second', 'speed to ours', 'CPU to ours'],
    rows: figures.map((one) => [
      one.server,
      NAMES[one.player],
      one.perSecond.toFixed(0),
      one.perCpuSecond.toFixed(0),
      one.speed,
      one.cpu,
    ]),
    notes: [
      `Sessions of initialize, initialized, tools/call, DELETE, ${CONCURRENCY} at a time: ${SIZES.stub} a round on the stub, ${SIZES.server} on the server; load and server share this machine.`,
      `Medians of ${ROUNDS} rounds in alternating order after one discarded; ratios within each round, median (lowest–highest). CPU is the load side's alone.`,
      K6 === null
        ? 'K6_BIN names no k6: its rows are left out.'
        : `k6 plays loadtests/delete.ts; a run of one session is taken off, which has the script's start, its ${BESIDES.warmUp} sessions of warm-up and what it does afterwards.`,
    ],
    figures: { concurrency: CONCURRENCY, rounds: ROUNDS, figures },
  };
}

export const k6: Benchmark = { name: 'k6', title: 'Load by k6 and by our driver', run };
