/**
 * Which claims a script can ask, and which step answers which. Pure: what a claim says, and which answer agrees with
 * it, stands in src/cases/claims.ts, where the verdict of `check` has it from as well.
 */
import { AGREES, type ClaimId } from '../../src/cases/claims.ts';
import { declinesDelete, SESSIONLESS } from '../../src/cases/obstacles.ts';
import type { CaseSettings, Stage } from '../../src/cases/case.ts';
import { DEFAULT_IDLE_MAX_SECONDS } from '../../src/ledger/policy.ts';
import type { Op } from './ledger.ts';
import type { Counted } from './metrics-page.ts';

/** What a claim is asked of: a script's case, by its id, and the settings in force. */
export interface Context {
  readonly settings: CaseSettings;
}

/** Certainly within the idle timeout when it was answered: a late one is no evidence. */
const isTimely = (op: Op, { settings }: Context): boolean =>
  (op.idleMs ?? Infinity) + op.ms < 0.9 * 1000 * (settings.idleTimeoutSeconds ?? DEFAULT_IDLE_MAX_SECONDS);

const isLate = (op: Op, { settings }: Context): boolean =>
  (op.idleMs ?? 0) > 1000 * (settings.idleTimeoutSeconds ?? DEFAULT_IDLE_MAX_SECONDS);

const is = (op: Op, step: Op['step'], stage?: string): boolean =>
  op.step === step && (stage === undefined || op.stage === stage);

/** The steps that a claim is judged by, one by one. */
const ASKED_OF: { readonly [K in keyof typeof AGREES]: (op: Op, context: Context) => boolean } = {
  'abandon.alive-within-timeout': (op, context) => is(op, 'ping', 'alive') && isTimely(op, context),
  'abandon-expiry.alive-before': (op, context) => is(op, 'ping', 'before') && isTimely(op, context),
  'abandon-expiry.id-refused': (op, context) => is(op, 'ping', 'ids') && isLate(op, context),
  'delete.accepted': (op) => is(op, 'delete'),
  'delete.id-refused': (op) => is(op, 'reuse') && op.kind !== 'DELETE' && op.afterDelete === true,
  'delete.repeat-settles': (op) => is(op, 'reuse') && op.kind === 'DELETE' && op.afterDelete === true,
  'delete.reopens': (op) => is(op, 'open', 'after') && op.session.endsWith('/2'),
  'keepalive.call-completes': (op) => is(op, 'sleep'),
  'over-cap.refuses': (op) => is(op, 'open', 'beyond') || is(op, 'open', 'flood'),
  'over-cap.evicts-none': (op, context) => is(op, 'ping', 'kept') && isTimely(op, context),
  'over-cap.room-returns': (op) => is(op, 'open', 'room'),
  'reject.refused': (op) => is(op, 'refuse'),
  'reject.id-unusable': (op) => is(op, 'reuse-echoed'),
};

/** What one step says of a claim. unasked: its server does not offer what the claim is about. */
export type Answer = 'agrees' | 'contradicts' | 'unanswered' | 'unasked';

/** Stages around a case, of which only survival makes a claim. */
export const ASIDE: readonly string[] = ['preflight', 'survival', 'clean-up', 'flood-close'];

/** Every claim that a step says something of. */
export function answersOf(op: Op, context: Context): [ClaimId, Answer][] {
  if (op.stage === 'survival') return survivalOf(op);
  if (ASIDE.includes(op.stage)) return [];
  const asked = (Object.keys(AGREES) as (keyof typeof AGREES)[]).filter((claim) =>
    ASKED_OF[claim](op, context),
  );
  const answers = asked.map((claim): [ClaimId, Answer] => [claim, answerOf(claim, op)]);
  if (is(op, 'open', 'race')) answers.push(['over-cap.exact', told(op) ? 'agrees' : 'unanswered']);
  if (is(op, 'stream', 'load')) answers.push(['keepalive.stream-survives', streamOf(op)]);
  if (is(op, 'ping', 'load') && op.besideStream === true)
    answers.push(['keepalive.stream-survives', told(op) ? agreed(op) : 'unanswered']);
  return answers;
}

const told = (op: Op): boolean => op.outcome === 'ok' || op.outcome === 'refused';
const agreed = (op: Op): Answer => (op.outcome === 'ok' ? 'agrees' : 'contradicts');

function answerOf(claim: keyof typeof AGREES, op: Op): Answer {
  // No refusal echoed an id: there is none that could be used.
  if (claim === 'reject.id-unusable' && op.outcome === 'local') return 'agrees';
  // A call that ends without its result was killed.
  if (claim === 'keepalive.call-completes' && op.outcome === 'broken') return 'contradicts';
  if (!told(op)) return 'unanswered';
  return AGREES[claim](op) ? 'agrees' : 'contradicts';
}

function streamOf(op: Op): Answer {
  if (op.status === 405) return 'unasked';
  // What never began was not ended too early.
  if (!op.begun || (op.status ?? 0) >= 400) return 'unanswered';
  return agreed(op);
}

function survivalOf(op: Op): [ClaimId, Answer][] {
  // A session without an id need not be closed, and closing may be declined.
  const isUnclosed = (op.step === 'delete' && op.outcome === 'local') || declinesDelete(op);
  if (op.step === 'drop' || isUnclosed) return [];
  return [['survival.serves-after', agreed(op)]];
}

/** The readings of the registry, by their stages, that a claim is judged by. */
export const READ_AT: Partial<Record<ClaimId, readonly string[]>> = {
  'delete.deregisters': ['settle', 'settle-after', 'end'],
  'delete-expiry.reclaimed': ['expiry'],
  'abandon-expiry.reclaimed': ['expiry'],
  'keepalive.expires-after': ['expiry'],
  'reject.registers-nothing': ['settle', 'settle-apart'],
};

/** The stages after which the registry is read, in their order. */
export const readingsOf = (stages: readonly Stage[]): string[] =>
  stages.filter((stage) => stage.kind === 'settle' || stage.kind === 'expire').map((stage) => stage.name);

export interface NotPromised {
  readonly claim: ClaimId;
  readonly reason: string;
}

const NEED_CAP: readonly ClaimId[] = ['over-cap.exact', 'over-cap.evicts-none', 'over-cap.room-returns'];
const UNCOUNTED =
  'METRICS is not set, so the registry cannot be counted: set it to the address of mcp-retention exporter.';
const SHARED =
  'One of several instances does not see what the others opened: the rules in Prometheus count the registry.';

/** What the first look showed of a target. */
export interface Seen {
  /** What METRICS told, or null where it is not set. */
  readonly counted: Counted | null;
  readonly settings: CaseSettings;
  /** No other instance plays at the same time. */
  readonly isAlone: boolean;
  /** It opens sessions without an id. */
  readonly isSessionless: boolean;
}

/** Splits a case's claims into those that can be asked of this target and the others, each with its reason. */
export function promise(
  claims: readonly ClaimId[],
  { counted, settings, isAlone, isSessionless }: Seen,
): { promised: ClaimId[]; notPromised: NotPromised[] } {
  const obstacle = (claim: ClaimId): string | null => {
    if (claim === 'identity.holds' || READ_AT[claim] !== undefined) {
      if (!isAlone) return SHARED;
      if (counted !== null) return null;
      return isSessionless ? SESSIONLESS : UNCOUNTED;
    }
    if (isSessionless && claim !== 'survival.serves-after') return SESSIONLESS;
    if (NEED_CAP.includes(claim) && counted !== null && counted.sessionLimit === null)
      return 'This build has no session cap.';
    const isDeclared = settings.idleTimeoutSeconds !== undefined || settings.maxSessions !== undefined;
    if (claim === 'abandon.bounded' && counted === null && !isDeclared)
      return 'Neither METRICS nor IDLE_TIMEOUT or CAP tells what bounds abandoned sessions.';
    return null;
  };
  const notPromised = claims.flatMap((claim) => {
    const reason = obstacle(claim);
    return reason === null ? [] : [{ claim, reason }];
  });
  const left = notPromised.map(({ claim }) => claim);
  return { promised: claims.filter((claim) => !left.includes(claim)), notPromised };
}
