import { DEFAULT_IDLE_MAX_SECONDS } from '../../ledger/ledger.ts';
import type { OpRecord } from '../../recording/schema.ts';
import type { Count, Evidence } from '../evidence.ts';
import { fail, of, pass, unmeasured, type Finding } from '../finding.ts';

/** The answers that were given, as `404 × 18, 200 × 2`: what people look at first. */
export function answers(ops: readonly OpRecord[]): string {
  const tally = new Map<string, number>();
  for (const op of ops) {
    const name =
      op.status === undefined ? op.outcome : `${op.status}${op.code === undefined ? '' : ` ${op.code}`}`;
    tally.set(name, (tally.get(name) ?? 0) + 1);
  }
  return [...tally].map(([name, count]) => `${name} × ${count}`).join(', ') || 'nothing was sent';
}

/** Evidence is missing: because the target died, or because nothing came to it. */
export function missing(evidence: Evidence, what: string): Finding {
  return unmeasured(evidence.death ? `${what}: ${evidence.death.reason}` : `${what}.`);
}

interface Judgement {
  readonly expected: string;
  readonly noun: string;
  readonly missing: string;
  readonly reason: (bad: readonly OpRecord[]) => string;
}

/**
 * Judges steps one by one: any bad one fails the claim; broken ones (uncertain) leave it unmeasured unless a
 * bad one decides; none at all is missing evidence.
 */
export function judgeSteps(
  evidence: Evidence,
  ops: readonly OpRecord[],
  good: (op: OpRecord) => boolean,
  say: Judgement,
): Finding {
  const told = ops.filter((op) => op.outcome === 'ok' || op.outcome === 'refused');
  const bad = told.filter((op) => !good(op));
  if (bad.length > 0)
    return fail(
      say.expected,
      `${of(bad.length, told.length, say.noun)} not so: ${answers(bad)}`,
      say.reason(bad),
    );
  const broken = ops.filter((op) => op.outcome === 'broken');
  if (broken.length > 0)
    return unmeasured(
      `${of(broken.length, ops.length, say.noun)} got no answer (${broken[0]?.note ?? 'the connection broke'}).`,
    );
  if (told.length === 0) return missing(evidence, say.missing);
  return pass(say.expected, `${told.length} ${say.noun}: ${answers(told)}`);
}

/** Judges a settled count: the registry may not hold more than expected. */
export function judgeRetained(
  evidence: Evidence,
  count: Count | null,
  played: number,
  noun: string,
  reason: (retained: number, remnants: number) => string,
): Finding {
  if (evidence.unsupportedSamples > 0 && !count)
    return unmeasured('The probe does not know this SDK: its registry cannot be counted.');
  if (!count) return missing(evidence, 'No settled count was taken');
  if (evidence.distrust !== null) return unmeasured(evidence.distrust);
  const { max } = count.expected;
  // More than none may be there as long as an expiry is still due, or somebody's sessions were there before.
  const expected = max === 0 ? '0 registered' : `at most ${max} registered`;
  const { retentionDrift: drift, registered, remnants } = count;
  if (drift < 0)
    return unmeasured(
      `${-drift} sessions that should be registered are not: the counts do not fit what was played.`,
    );
  if (drift === 0 && evidence.strangers > 0)
    return unmeasured(
      `${evidence.strangers} sessions of others were registered before the case: if they end meanwhile, as many kept ones stay unseen. Measure the server while nobody else uses it.`,
    );
  if (drift === 0) return pass(expected, `${registered} registered`);
  return fail(
    expected,
    `${registered} registered (${of(drift, played, noun)} kept)`,
    reason(drift, remnants),
  );
}

/** `, all of them remnants of ended transports` and the like. */
export function kindOfKept(kept: number, remnants: number): string {
  if (remnants === 0) return 'none of them known to have ended';
  if (remnants >= kept) return 'all of them remnants whose transport has ended';
  return `${remnants} of them remnants whose transport has ended`;
}

/**
 * Pings that tell whether a session was there within its idle timeout: one that was answered always does, one that was
 * refused only where it was certainly sent in time, also by a server that counts from a request's arrival.
 */
export function pingsWithinTimeout(evidence: Evidence, stage: string): OpRecord[] {
  const timeout = (evidence.idleTimeoutSeconds ?? DEFAULT_IDLE_MAX_SECONDS) * 1000;
  return evidence
    .ops('ping', stage)
    .filter((op) => op.outcome === 'ok' || (evidence.unaskedBefore(op) ?? Infinity) + op.ms < 0.9 * timeout);
}
