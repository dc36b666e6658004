/** What every script does before and after its load. */
import exec from 'k6/execution';
import { PREFLIGHT, SURVIVAL } from '../../src/cases/around.ts';
import { planOf, type CaseSettings } from '../../src/cases/case.ts';
import type { ClaimId } from '../../src/cases/claims.ts';
import { DEFAULT_LAG_MS } from '../../src/ledger/policy.ts';
import { agree, excuse, haveRead, judge } from './checks.ts';
import { promise, type NotPromised } from './claims.ts';
import type { Endpoint } from './http.ts';
import { add, type Op } from './ledger.ts';
import type { Counted } from './metrics-page.ts';
import type { ScriptOptions } from './options.ts';
import { delay, playPlan, type Playing } from './player.ts';
import { count } from './registry.ts';
import { shareOf, type Share } from './schedule.ts';

/** What setup tells everybody. It holds no secret: k6 shows it in its API and in the summary's data. */
export interface Told {
  /** The `run` tag of everything that k6 emits. */
  readonly run: string;
  readonly settings: CaseSettings;
  readonly promised: readonly ClaimId[];
  readonly notPromised: readonly NotPromised[];
  readonly baseline: number;
  /** Expired before the load, since the processes began. */
  readonly expirations: number;
  /** Of the baseline, entries whose transport had ended. */
  readonly remnants: number;
  /** Of the baseline, what was not this script's own first look. */
  readonly strangers: number;
  readonly workers: string;
  /** Whether METRICS told the settings. */
  readonly isMeasured: boolean;
}

export interface Script {
  readonly id: string;
  readonly title: string;
  readonly claims: readonly ClaimId[];
  readonly settings: CaseSettings;
  readonly endpoint: Endpoint;
  readonly options: ScriptOptions;
}

export const endpointOf = ({ target, headers }: ScriptOptions): Endpoint => ({ url: target, headers });

/** The settings in force: what METRICS tells goes before what was set. */
function settingsOf(script: Script, counted: Counted | null): CaseSettings {
  const { idleTimeout, cap } = script.options;
  if (counted === null) return script.settings;
  const idle = counted.idleTimeoutSeconds;
  const limit = counted.sessionLimit;
  if (idleTimeout !== null && idle !== idleTimeout)
    throw new Error(
      `IDLE_TIMEOUT is ${idleTimeout}, and the server's idle timeout is ${idle ?? 'none'}: set it to that.`,
    );
  if (cap !== null && limit !== null && limit !== cap)
    throw new Error(`CAP is ${cap}, and the server's cap is ${limit}: set CAP=${limit}.`);
  return {
    ...(idle !== null && { idleTimeoutSeconds: idle }),
    ...(limit !== null && { maxSessions: limit }),
  };
}

let share: Share | null = null;

/** Asked once by each virtual user: k6 copies all options whenever one is read. */
export const shareHere = (): Share =>
  (share ??= shareOf(exec.test.options.executionSegment, exec.test.options.executionSegmentSequence));

/** Ends the test with the sentence of an error, of which k6 would show the stack. */
function abort(error: unknown): never {
  exec.test.abort(error instanceof Error ? error.message : String(error));
  throw error;
}

/** What `make` makes; where an option is bad, the test ends with the sentence that says so. */
export function orAbort<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    return abort(error);
  }
}

/** A first look. Where it fails, the test ends with the sentence that says why: k6 shows no more of it. */
export async function setUp(script: Script, look: (told: Told) => void = () => undefined): Promise<Told> {
  try {
    const told = await firstLook(script);
    look(told);
    return told;
  } catch (error) {
    return abort(error);
  }
}

/** Is there an MCP server at all, what does it hold, and what can it be asked? */
async function firstLook(script: Script): Promise<Told> {
  requireCheckTag();
  if (script.options.isAmbiguous)
    console.warn(
      'HEADERS is read by k6’s remote write too, which then writes nothing: with -o experimental-prometheus-rw use REQUEST_HEADERS.',
    );
  const before = await count(script.options);
  const ops: Op[] = [];
  await playPlan(playingOf(script, ops), PREFLIGHT.name, 0, planOf(PREFLIGHT, script.options.seed, 0));
  const opened = ops.find((op) => op.step === 'open');
  // One that is full now is an MCP server.
  if (opened === undefined || (opened.outcome !== 'ok' && opened.status !== 503))
    throw new Error(notServed(script, opened));
  // Discarding follows the answer.
  await delay(DEFAULT_LAG_MS / 1000);
  const counted = await count(script.options);
  requireSeen(before, counted, opened);
  const settings = settingsOf(script, counted);
  const isAlone = shareHere().count === 1;
  const isSessionless = opened.outcome === 'ok' && opened.sid !== true;
  const { promised, notPromised } = promise(script.claims, { counted, settings, isAlone, isSessionless });
  excuse(notPromised.map(({ claim }) => claim));
  const isMeasured = counted !== null;
  if (promised.includes('abandon.bounded')) {
    const isBounded = settings.idleTimeoutSeconds !== undefined || settings.maxSessions !== undefined;
    expectAnswer('abandon.bounded', isBounded);
  }
  const { registered: baseline = 0, expirations = 0, remnants = 0, workers = '' } = counted ?? {};
  const run = exec.test.options.tags?.['run'] ?? script.options.run;
  return {
    run,
    settings,
    promised,
    notPromised,
    baseline,
    expirations,
    remnants,
    strangers: before?.registered ?? 0,
    workers,
    isMeasured,
  };
}

/** What was just opened must have been registered where METRICS looks. */
function requireSeen(before: Counted | null, after: Counted | null, { outcome, sid }: Op): void {
  if (before === null || after === null || outcome !== 'ok' || sid !== true) return;
  // After a restart in between counts begin anew.
  if (before.workers !== after.workers || after.registrations > before.registrations) return;
  throw new Error(
    'METRICS did not see the session that was just opened: it shows another server, an old snapshot, or not every worker.',
  );
}

/** Checks are told apart by a tag that the command line can take away. */
function requireCheckTag(): void {
  const tags = exec.test.options.systemTags;
  if (tags != null && !tags.includes('check'))
    throw new Error(
      '--system-tags leaves out check, by which the claims are told apart: name it too, or leave the option out.',
    );
}

/** Options of the command line may take the place of the script's own scenario. */
export function requireExecutor(executor: string): void {
  if (exec.scenario.executor !== executor)
    exec.test.abort(
      'options of the command line took the place of the script’s own: use VUS, SESSIONS and DURATION instead.',
    );
}

function notServed({ options }: Script, opened: Op | undefined): string {
  const answer = opened?.status === undefined ? [] : [`HTTP ${opened.status}`];
  const said = [...answer, ...(opened?.note === undefined ? [] : [opened.note])].join(', ') || 'no answer';
  const mend =
    opened?.status === undefined
      ? 'is a server running there?'
      : 'is TARGET its MCP endpoint, with its path, and does REQUEST_HEADERS hold what it asks for?';
  return `${options.targetName} does not open an MCP session (${said}): ${mend}`;
}

function expectAnswer(claim: ClaimId, agrees: boolean): void {
  haveRead([claim]);
  agree(claim, agrees);
}

/**
 * Setup and teardown are played by one of several instances. The others have no evidence of what these ask, and k6
 * judges thresholds instance by instance.
 */
export function excuseHere(told: Told | undefined): asserts told is Told {
  if (told === undefined)
    abort(new Error('--no-setup leaves out the first look that the load needs: leave it out.'));
  if (exec.vu.iterationInScenario > 0 || shareHere().count === 1) return;
  excuse(['survival.serves-after', ...told.notPromised.map(({ claim }) => claim)]);
}

/** After the load: does the server still serve? */
export async function survive(script: Script, told: Told): Promise<void> {
  const ops: Op[] = [];
  await playPlan(playingOf(script, ops), SURVIVAL.name, 0, planOf(SURVIVAL, script.options.seed, 0));
  for (const op of ops) judge(op, told);
}

function playingOf(script: Script, ops: Op[]): Playing {
  const tell = (op: Op): void => {
    // Told apart, since these sessions are no evidence of what the load is to show.
    add(op, { stage: op.stage });
    ops.push(op);
  };
  return { endpoint: script.endpoint, idleSeconds: 1, sessions: new Map(), tell };
}
