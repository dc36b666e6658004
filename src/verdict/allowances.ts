/**
 * Failures that the configuration allows. An allowance that nothing needs any more is a failure itself: it would
 * hide the next one.
 */
import type { Recording } from '../recording/reader.ts';
import type { AllowanceReport, BuildReport, ClaimReport } from './schema.ts';

/** @param judged the builds that are judged: in a comparison the candidate alone */
export function allowancesOf(recording: Recording, judged: readonly BuildReport[]): AllowanceReport[] {
  const asked = judged
    .flatMap((build) => build.cases.flatMap((played) => played.claims))
    .filter((c) => c.promised);
  return Object.entries(recording.header.allow ?? {}).map(([claim, reason]) => {
    const found = asked.filter((one) => one.id === claim);
    const stale = found.length > 0 && found.every((one) => one.status === 'pass');
    return { claim, reason, stale };
  });
}

/** A failure that decides: promised, and not allowed. */
export const decides = (claim: ClaimReport): boolean =>
  claim.promised && claim.status === 'fail' && claim.allowed === null;
