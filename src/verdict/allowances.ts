/**
 * Failures that the configuration allows. An allowance that nothing needs any more is a failure itself: it would
 * hide the next one.
 */
import type { Recording } from '../recording/reader.ts';
import type { AllowanceReport, BuildReport, ClaimReport, Report } from './schema.ts';

/** @param judged the builds that are judged: in a comparison the candidate alone */
export const allowancesOf = (recording: Recording, judged: readonly BuildReport[]): AllowanceReport[] =>
  allowancesIn(recording.header.allow ?? {}, judged);

export function allowancesIn(
  allow: Readonly<Record<string, string>>,
  judged: readonly BuildReport[],
): AllowanceReport[] {
  const asked = claimsIn(judged).filter((claim) => claim.promised);
  return Object.entries(allow).map(([claim, reason]) => {
    const found = asked.filter((one) => one.id === claim);
    const stale = found.length > 0 && found.every((one) => one.status === 'pass');
    return { claim, reason, stale };
  });
}

const claimsIn = (builds: readonly BuildReport[]): ClaimReport[] =>
  builds.flatMap((build) => build.cases.flatMap((played) => played.claims));

/** A failed claim or a stale allowance decides; else anything promised and not measured leaves the run undecided. */
export function verdictOf(
  builds: readonly BuildReport[],
  allowances: readonly AllowanceReport[],
  whole: boolean,
): Report['verdict'] {
  const promised = claimsIn(builds).filter((claim) => claim.promised);
  if (promised.some(decides) || allowances.some((one) => one.stale)) return 'fail';
  if (!whole || promised.length === 0) return 'inconclusive';
  return promised.some((claim) => claim.status === 'unmeasured') ? 'inconclusive' : 'pass';
}

/** A failure that decides: promised, and not allowed. */
export const decides = (claim: ClaimReport): boolean =>
  claim.promised && claim.status === 'fail' && claim.allowed === null;
