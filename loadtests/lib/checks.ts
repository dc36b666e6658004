/** Claims as k6 checks, and the thresholds that decide k6's exit code by them. */
import { check } from 'k6';
import { Counter } from 'k6/metrics';
import type { ClaimId } from '../../src/cases/claims.ts';
import { clientRequests } from '../../src/metrics/catalogue.ts';
import { declinesDelete, followsAtOnce } from '../../src/cases/obstacles.ts';
import { answersOf, ASIDE, READ_AT, type Context } from './claims.ts';
import {
  BEYOND,
  declined,
  deletes,
  followed,
  IDENTITY,
  LOST,
  lost,
  RACE,
  READINGS,
  REGISTERED,
  REMNANTS,
  UNEXPIRED,
  type Op,
} from './ledger.ts';

/** Steps and readings that a claim was asked of. A promised claim needs one. */
export const ASKED = 'mcp_k6_claims_asked';
/** Of these, those that got no answer. */
export const UNANSWERED = 'mcp_k6_claims_unanswered';
const asked = new Counter(ASKED);
const unanswered = new Counter(UNANSWERED);

/** These claims need no evidence here: their thresholds are not to fail for want of it. */
export function excuse(claims: readonly ClaimId[]): void {
  for (const claim of claims) asked.add(1, { claim });
}

/** A check for what one step says of each promised claim. */
export function judge(op: Op, context: Context & { readonly promised: readonly ClaimId[] }): void {
  seeObstacles(op);
  for (const [claim, answer] of answersOf(op, context)) {
    if (!context.promised.includes(claim)) continue;
    asked.add(1, { claim });
    if (answer === 'unanswered') unanswered.add(1, { claim });
    else if (answer !== 'unasked' && !agree(claim, answer === 'agrees')) warn(claim, op);
  }
}

/** What may keep claims from being asked of this server at all. */
function seeObstacles(op: Op): void {
  const { stage, step, status, idleMs, ms } = op;
  // Until its answer, since a virtual user that waits for its turn has sent later than it knows.
  if (followsAtOnce(step, (idleMs ?? Infinity) + ms)) {
    followed.add(1);
    if (status === 404) lost.add(1);
  }
  if (step !== 'delete' || ASIDE.includes(stage)) return;
  deletes.add(1);
  if (declinesDelete(op)) declined.add(1);
}

/** Claims of which this virtual user has shown a contradiction: one tells enough. */
const warned = new Set<ClaimId>();

function warn(claim: ClaimId, { step, stage, kind, status, note, outcome }: Op): void {
  if (warned.has(claim)) return;
  warned.add(claim);
  const answer = status === undefined ? (note ?? outcome) : `HTTP ${status} (${outcome})`;
  console.warn(
    `${claim}: in ${stage}, ${kind === undefined ? step : `${step} ${kind}`} was answered: ${answer}`,
  );
}

/** A check by the claim's id. */
export const agree = (claim: ClaimId, agrees: boolean): boolean => check(null, { [claim]: () => agrees });

/** The registry was read, and so evidence came to these claims. */
export function haveRead(claims: readonly ClaimId[]): void {
  for (const claim of claims) asked.add(1, { claim });
}

/** The registry was read, and did not tell whether these claims hold. */
export function leftUnanswered(claims: readonly ClaimId[]): void {
  for (const claim of claims) unanswered.add(1, { claim });
}

export const ofClaim = (metric: string, claim: string): string => `${metric}{claim:${claim}}`;
export const ofReading = (metric: string, reading: string): string => `${metric}{reading:${reading}}`;
export const ofCheck = (claim: string): string => `checks{check:${claim}}`;
export const NO_ANSWER = `${clientRequests.name}{status:0}`;

/** What a script's summary reads and what its exit code follows from. */
export interface ThresholdsOf {
  readonly claims: readonly ClaimId[];
  /** Stages after which the registry is read; none without METRICS. */
  readonly readings: readonly string[];
  /** Sessions that were abandoned may have expired by then: then fewer may be registered. */
  readonly mayExpire: boolean;
  readonly cap: number | undefined;
}

export function thresholdsOf({ claims, readings, mayExpire, cap }: ThresholdsOf): Record<string, string[]> {
  const thresholds: Record<string, string[]> = { [NO_ANSWER]: ['count>=0'], [LOST]: ['count==0'] };
  for (const claim of claims) {
    thresholds[ofClaim(ASKED, claim)] = ['count>0'];
    thresholds[ofClaim(UNANSWERED, claim)] = ['count==0'];
    thresholds[ofCheck(claim)] = ['rate==1'];
  }
  if (claims.includes('over-cap.exact')) thresholds[RACE] = ['count==0'];
  for (const reading of readings) {
    thresholds[ofReading(BEYOND, reading)] = [beyondAllowed(claims, reading, mayExpire)];
    if (mayExpire) thresholds[ofReading(UNEXPIRED, reading)] = ['count<=0'];
    thresholds[ofReading(READINGS, reading)] = ['count>=0'];
    thresholds[ofReading(REGISTERED, reading)] = [cap === undefined ? 'value>=0' : `value<=${cap}`];
    thresholds[ofReading(REMNANTS, reading)] = ['value>=0'];
  }
  if (readings.length > 0) thresholds[IDENTITY] = ['count==0'];
  return thresholds;
}

/** How far what is registered may be from what was expected, as a threshold. */
function beyondAllowed(claims: readonly ClaimId[], reading: string, mayExpire: boolean): string {
  const decides = claims.some((claim) => READ_AT[claim]?.includes(reading) === true);
  // What a lenient server opened apart from the others and deleted again is taken to be there still.
  if (decides) return mayExpire || reading === 'settle-apart' ? 'count<=0' : 'count==0';
  // Where sessions should be open, none may be missing; elsewhere k6 only has to keep the number.
  return claims.includes('abandon.alive-within-timeout') ? 'count>=0' : 'count>-1000000000';
}
