/** How fast the lifecycle driver is beside the bare HTTP clients under it. */
import { median } from '../src/verdict/statistics.ts';
import { alternating, pairedRatio, showRatio, type Benchmark, type Outcome } from './support/benchmark.ts';
import { byAutocannon, byDriver, byUndici } from './support/sessions.ts';
import { startStubProcess, type StubProcess } from './support/stub-process.ts';

const SESSIONS = 6_000;
const CONCURRENCY = 50;
const ROUNDS = 9;

interface Round {
  readonly perSecond: number;
  /** CPU time of this process, not of the stub, in milliseconds per session. */
  readonly cpuMs: number;
}

type Player = (url: string, sessions: number, concurrency: number) => Promise<number>;

async function measured(stub: StubProcess, player: Player): Promise<Round> {
  const before = await stub.counts();
  const cpu = process.cpuUsage();
  const began = performance.now();
  const seconds = ((await player(stub.url, SESSIONS, CONCURRENCY)) - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const after = await stub.counts();
  if (after.live !== 0 || after.deleted - before.deleted !== SESSIONS)
    throw new Error('the stub did not see every session opened and deleted');
  return { perSecond: SESSIONS / seconds, cpuMs: (user + system) / 1000 / SESSIONS };
}

async function run(): Promise<Outcome> {
  const stub = await startStubProcess();
  try {
    const results = await alternating(
      {
        driver: () => measured(stub, byDriver),
        undici: () => measured(stub, byUndici),
        autocannon: () => measured(stub, byAutocannon),
      },
      ROUNDS,
    );
    const names = ['driver', 'undici', 'autocannon'] as const;
    const speed = (name: (typeof names)[number]) => results[name].map((round) => round.perSecond);
    const cpu = (name: (typeof names)[number]) => results[name].map((round) => round.cpuMs);
    const figures = names.map((name) => ({
      client: name,
      perSecond: median(speed(name)),
      toUndici: pairedRatio(speed(name), speed('undici')),
      cpuMsPerSession: median(cpu(name)),
      cpuToUndici: pairedRatio(cpu(name), cpu('undici')),
    }));
    return {
      head: ['client', 'sessions/s', 'to bare undici', 'CPU ms/session', 'CPU to bare undici'],
      rows: figures.map((f) => [
        f.client,
        f.perSecond.toFixed(0),
        showRatio(f.toUndici),
        f.cpuMsPerSession.toFixed(3),
        showRatio(f.cpuToUndici),
      ]),
      notes: [
        `Sessions of initialize, initialized, tools/call, DELETE on a stub in a process of its own: ${SESSIONS} a round, ${CONCURRENCY} at a time; the driver writes its recording to a file.`,
        `Medians of ${ROUNDS} rounds in alternating order after one discarded; ratios within each round, median (lowest–highest). The goal is a driver at 0.9 of undici's sessions/s or more.`,
      ],
      figures: { sessions: SESSIONS, concurrency: CONCURRENCY, rounds: ROUNDS, clients: figures },
    };
  } finally {
    await stub.stop();
  }
}

export const driver: Benchmark = { name: 'driver', title: 'Lifecycle driver', run };
