/**
 * A case as a k6 script: one scenario whose iterations are the case's own plans, in the order and with the concurrency
 * of its stages. A count ends it, not a clock, so that no session is cut.
 */
import exec from 'k6/execution';
import http from 'k6/http';
import type { Case, CaseSettings } from '../../src/cases/case.ts';
import { planOf } from '../../src/cases/case.ts';
import type { ClaimId } from '../../src/cases/claims.ts';
import { open, hold } from '../../src/cases/steps.ts';
import { DEFAULT_LAG_MS, DEFAULT_SLACK_MS } from '../../src/ledger/policy.ts';
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
import { judge, thresholdsOf } from './checks.ts';
import { readingsOf } from './claims.ts';
import { add, begun, beyond, finished, growth, race, tagsHere, type Op } from './ledger.ts';
import { commonOptions } from './k6-options.ts';
import { readOptions, type ScriptOptions } from './options.ts';
import { delay, deleteSession, playPlan, type Playing } from './player.ts';
import { expired, leaveOpen, note, settled } from './registry.ts';
import { scheduleOf, type Item, type Lane, type Schedule } from './schedule.ts';
import type { Session } from './session.ts';
import { summary, type Summarized, type SummaryData } from './summary.ts';

/** More than any count takes: the count ends the load. */
const LONGEST = '24h';
const GRACEFUL = '5m';
/** An idle timeout longer than this is waited for only where it was asked for by name. */
const LONGEST_WAIT_SECONDS = 10;
const GATE_SECONDS = 0.005;

interface Parts {
  readonly script: Script;
  readonly schedule: Schedule;
  readonly readings: readonly string[];
}

export interface CaseScript {
  readonly options: object;
  readonly setup: () => Promise<Told>;
  readonly play: (told: Told) => Promise<void>;
  readonly teardown: (told: Told) => Promise<void>;
  readonly handleSummary: (data: SummaryData) => Record<string, string>;
}

export const caseScript = (definition: Case): CaseScript => orAbort(() => scriptOf(definition));

function scriptOf(definition: Case): CaseScript {
  const options = readOptions(__ENV);
  // Refusals are what is asked for.
  http.setResponseCallback(http.expectedStatuses({ min: 100, max: 599 }));
  const settings = settingsOf(definition, options);
  const size = {
    sessions: options.sessions ?? definition.size.sessions,
    warmUp: definition.size.warmUp,
    concurrency: options.vus ?? definition.size.concurrency,
  };
  const stages = definition.stages({ size, settings });
  const schedule = scheduleOf(stages, { seed: options.seed, size, settings });
  const claims = definition.claims as readonly ClaimId[];
  const { id, title } = definition;
  const script: Script = { id, title, claims, settings, endpoint: endpointOf(options), options };
  const readings = options.metrics === null ? [] : readingsOf(stages);
  const summarized: Summarized = { script, size, readings, mayExpire: false, lastsMs: 0 };
  const parts: Parts = { script, schedule, readings };
  return {
    options: k6Options(parts, claims),
    setup: () => setUp(script, (told) => requireShortWait(definition, options, told.settings)),
    play: (told) => playNext(parts, told),
    teardown: (told) => survive(script, told),
    handleSummary: (data) => summary(data, summarized),
  };
}

function settingsOf(definition: Case, { idleTimeout, cap, metrics }: ScriptOptions): CaseSettings {
  if (definition.needs.includes('idle-timeout') && idleTimeout === null && metrics === null)
    throw new Error(
      `IDLE_TIMEOUT is not set: say after how many seconds the server expires idle sessions, such as IDLE_TIMEOUT=1.`,
    );
  if (definition.needs.includes('max-sessions') && cap === null)
    throw new Error(`CAP is not set: say how many sessions the server admits, such as CAP=20.`);
  return {
    ...(idleTimeout !== null && { idleTimeoutSeconds: idleTimeout }),
    ...(cap !== null && { maxSessions: cap }),
  };
}

function requireShortWait(definition: Case, options: ScriptOptions, settings: CaseSettings): void {
  if (!definition.needs.includes('idle-timeout') || options.idleTimeout !== null) return;
  const idle = settings.idleTimeoutSeconds;
  if (idle === undefined)
    throw new Error('The server has no idle timeout, and the case is about one: start it with one.');
  if (idle > LONGEST_WAIT_SECONDS)
    throw new Error(
      `The server's idle timeout is ${idle} s: set IDLE_TIMEOUT=${idle} to wait that long, or start it with 1 s.`,
    );
}

function k6Options({ script, schedule, readings }: Parts, claims: readonly ClaimId[]) {
  const cap = script.id === 'over-cap' ? script.settings.maxSessions : undefined;
  return {
    ...commonOptions(script, thresholdsOf({ claims, readings, mayExpire: false, cap })),
    scenarios: {
      [script.id]: {
        executor: 'per-vu-iterations',
        vus: schedule.vus,
        iterations: schedule.iterations,
        maxDuration: LONGEST,
        gracefulStop: GRACEFUL,
      },
    },
  };
}

/** What a virtual user keeps from one iteration to the next. */
interface User {
  readonly items: readonly Item[];
  readonly rest: number;
  readonly sessions: Map<string, Session>;
}

/** k6 gives each virtual user a copy of this; elsewhere they may share it, so it is kept by their numbers. */
const users = new Map<number, User>();

function userOf({ schedule, script }: Parts): User {
  const vu = exec.vu.idInTest - 1;
  const known = users.get(vu);
  if (known !== undefined) return known;
  const share = shareHere();
  requireExecutor('per-vu-iterations');
  if (script.id === 'over-cap' && share.count > 1)
    exec.test.abort(
      'over-cap counts all openings, and several instances do not know of each other: run it on one.',
    );
  const user = { items: schedule.itemsOf(vu, share), rest: schedule.totalOf(share), sessions: new Map() };
  users.set(vu, user);
  begun.add(1, tagsHere());
  return user;
}

async function playNext(parts: Parts, told: Told): Promise<void> {
  excuseHere(told);
  const user = userOf(parts);
  const item = user.items[exec.vu.iterationInScenario];
  while (exec.instance.iterationsCompleted < (item?.gate ?? user.rest)) await delay(GATE_SECONDS);
  if (item !== undefined) await playItem(parts, told, user, item);
  if (exec.vu.iterationInScenario === parts.schedule.iterations - 1) finished.add(1, tagsHere());
}

async function playItem(parts: Parts, told: Told, user: User, { lane, index }: Item): Promise<void> {
  const { script } = parts;
  const playing: Playing = {
    endpoint: script.endpoint,
    idleSeconds: told.settings.idleTimeoutSeconds ?? script.settings.idleTimeoutSeconds ?? 1,
    sessions: user.sessions,
    tell: (op) => tell(parts, told, lane, op),
  };
  if (lane.kind === 'play') {
    await playPlan(playing, lane.name, index, planOf(lane, script.options.seed, index));
    forget(parts, user);
  } else if (lane.kind === 'flood') await playPlan(playing, lane.name, index, [open(), hold()]);
  else if (lane.kind === 'close') await closeHeld(playing, lane);
  else if (exec.vu.idInInstance === 1) await wait(parts, told, lane, playing.idleSeconds);
}

/** Sessions that no later stage can resume need not be kept. */
function forget({ schedule }: Parts, user: User): void {
  if (schedule.resumes) return;
  for (const [key, session] of user.sessions)
    if (session.deleted || session.dropped) user.sessions.delete(key);
}

/** What is held is deleted; what was dropped stays: leaving it is the point of the case. */
async function closeHeld(playing: Playing, lane: Lane): Promise<void> {
  const own = lane.name === 'clean-up' ? '' : `${lane.name.replace(/-close$/, '')}:`;
  for (const [key, session] of playing.sessions)
    if (key.startsWith(own) && !session.dropped) await deleteSession(playing, lane.name, session);
}

async function wait({ script, readings }: Parts, told: Told, lane: Lane, idleSeconds: number): Promise<void> {
  const { options } = script;
  if (!readings.includes(lane.name) || shareHere().count > 1) {
    await delay(lane.kind === 'expire' ? idleSeconds + DEFAULT_SLACK_MS / 1000 : DEFAULT_LAG_MS / 1000);
    return;
  }
  const counted =
    lane.kind === 'expire' ? await expired(options, told.baseline, idleSeconds) : await settled(options);
  if (counted !== null) note(lane.name, counted, told);
}

function tell({ readings, schedule }: Parts, told: Told, lane: Lane, op: Op): void {
  add(op, {});
  judge(op, told);
  if (told.promised.includes('over-cap.exact')) {
    if (op.step === 'open' && op.stage === 'race' && op.outcome === 'ok') race.add(1);
    if (op.step === 'delete' && op.stage === 'make-room' && op.outcome === 'ok') race.add(-1);
  }
  if (shareHere().count > 1) return;
  leaveOpen(op, told.promised);
  const change = growth(op);
  if (change === 0) return;
  // What a lenient server opened was deleted again: whether that works is not a refusal's matter.
  if (change < 0 && op.stage === 'apart') return;
  const at = schedule.lanes.indexOf(lane);
  for (const later of schedule.lanes.slice(at + 1))
    // By then everything has expired, whatever was opened.
    if (readings.includes(later.name) && later.kind !== 'expire')
      beyond.add(-change, { reading: later.name });
}
