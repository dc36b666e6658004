/**
 * The mixed workload of `mcp-retention load` as a k6 script: open arrivals, the same by number, whatever the server's
 * speed. How many virtual users are busy follows from it.
 */
import exec from 'k6/execution';
import http from 'k6/http';
import type { ClaimId } from '../../src/cases/claims.ts';
import { arrivalSeconds, planOfArrival, type Mix } from '../../src/cases/mixed.ts';
import {
  endpointOf,
  excuseHere,
  orAbort,
  requireExecutor,
  setUp,
  shareHere,
  survive,
  type Script,
  type Told,
} from './around.ts';
import type { CaseScript } from './case-script.ts';
import { judge, thresholdsOf } from './checks.ts';
import { add, begun, beyond, finished, growth, tagsHere, unexpired, type Op } from './ledger.ts';
import { commonOptions } from './k6-options.ts';
import { readOptions, secondsOf, type ScriptOptions } from './options.ts';
import { delay, playPlan, type Playing } from './player.ts';
import { leaveOpen, note, settled } from './registry.ts';
import { summary, type Summarized } from './summary.ts';

export interface Defaults {
  readonly id: string;
  readonly title: string;
  /** Arrivals per second. */
  readonly rate: number;
  /** As k6 writes it. */
  readonly duration: string;
}

/** Kinds whose sessions end by DELETE. */
const DELETING = ['delete', 'keep-alive', 'over-cap'] as const;

/** Of kinds that do not arrive nothing is asked. */
const claimsOf = (mix: Mix): readonly ClaimId[] => [
  ...(DELETING.some((kind) => (mix[kind] ?? 0) > 0)
    ? (['delete.accepted', 'delete.deregisters'] as const)
    : []),
  ...((mix.reject ?? 0) > 0 ? (['reject.refused'] as const) : []),
  'identity.holds',
  'survival.serves-after',
];
/** What is registered is read once, when the load is over. */
const READING = 'end';
/** k6 takes whole numbers of arrivals: so many in so long a time. */
const UNIT_SECONDS = 100;
/** Longer than any session of the mix takes, answers that are slow included. */
const GRACEFUL = '5m';
/** Sessions at a time for each arrival per second, with room to spare. */
const VUS_PER_RATE = 3;

export const arrivalsScript = (defaults: Defaults): CaseScript => orAbort(() => scriptOf(defaults));

function scriptOf(defaults: Defaults): CaseScript {
  const options = readOptions(__ENV);
  // Refusals are what is asked for.
  http.setResponseCallback(http.expectedStatuses({ min: 100, max: 599 }));
  const { seed, sessions, mix } = options;
  const rate = options.rate ?? defaults.rate;
  const vus = options.vus ?? Math.ceil(rate * VUS_PER_RATE) + 10;
  const script = describe(defaults, options);
  const counted = sessions === null ? null : `${Math.ceil(sessions / rate) + 1}s`;
  const duration = options.duration ?? counted ?? defaults.duration;
  const readings = options.metrics === null ? [] : [READING];
  const size = { sessions: sessions ?? 0, warmUp: 0, concurrency: vus };
  const summarized: Summarized = {
    script,
    size,
    readings,
    mayExpire: true,
    lastsMs: secondsOf(duration) * 1000,
  };
  return {
    options: k6Options(script, readings, { rate, vus, duration }),
    setup: () => setUp(script),
    play: (told) => arrive(script, told, { seed, rate, mix, sessions: sessions ?? Infinity }),
    teardown: async (told) => {
      if (options.metrics !== null && shareHere().count === 1) await read(options, told);
      await survive(script, told);
    },
    handleSummary: (data) => summary(data, summarized),
  };
}

function describe({ id, title }: Defaults, options: ScriptOptions): Script {
  const { idleTimeout, cap, mix } = options;
  const settings = {
    ...(idleTimeout !== null && { idleTimeoutSeconds: idleTimeout }),
    ...(cap !== null && { maxSessions: cap }),
  };
  return { id, title, claims: claimsOf(mix), settings, endpoint: endpointOf(options), options };
}

/** Whether the server still serves is asked also where its registry cannot be read any more. */
async function read(options: ScriptOptions, told: Told): Promise<void> {
  try {
    const reading = await settled(options);
    if (reading !== null) note(READING, reading, told);
  } catch (error) {
    console.warn(error instanceof Error ? error.message : String(error));
  }
}

interface Pace {
  readonly rate: number;
  readonly vus: number;
  readonly duration: string;
}

function k6Options(script: Script, readings: readonly string[], { rate, vus, duration }: Pace) {
  const thresholds = {
    ...thresholdsOf({ claims: script.claims, readings, mayExpire: true, cap: undefined }),
    // Where arrivals were left out, the load was less than what was asked for.
    dropped_iterations: ['count==0'],
  };
  return {
    ...commonOptions(script, thresholds),
    scenarios: {
      [script.id]: {
        executor: 'constant-arrival-rate',
        rate: Math.round(rate * UNIT_SECONDS),
        timeUnit: `${UNIT_SECONDS}s`,
        duration,
        preAllocatedVUs: vus,
        gracefulStop: GRACEFUL,
      },
    },
  };
}

async function arrive(
  script: Script,
  told: Told,
  { seed, rate, mix, sessions }: { seed: number; rate: number; mix: Mix; sessions: number },
): Promise<void> {
  requireExecutor('constant-arrival-rate');
  excuseHere(told);
  const index = exec.scenario.iterationInTest;
  if (index >= sessions) return;
  begun.add(1, tagsHere());
  await delay(arrivalSeconds(seed, index, rate) - index / rate);
  const arrival = planOfArrival(seed, index, mix);
  const playing: Playing = {
    endpoint: script.endpoint,
    idleSeconds: 1,
    sessions: new Map(),
    tell: (op) => tell(told, arrival.kind, op),
  };
  const name = (i: number): string =>
    arrival.plans.length === 1 ? arrival.kind : `${arrival.kind}-${i + 1}`;
  await Promise.all(arrival.plans.map((plan, i) => playPlan(playing, name(i), index, plan)));
  finished.add(1, tagsHere());
}

function tell(told: Told, kind: string, op: Op): void {
  add(op, { case: kind });
  judge(op, told);
  leaveOpen(op, told.promised);
  const change = growth(op);
  if (change === 0) return;
  beyond.add(-change, { reading: READING });
  // A DELETE that is answered with 404 came after the expiry, which the registry counts.
  if (op.status !== 404) unexpired.add(-change, { reading: READING });
}
