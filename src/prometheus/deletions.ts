/** The claims about DELETE: whether it was accepted, and whether it took the session out of the registry. */
import * as catalogue from '../metrics/catalogue.ts';
import { fail, of, pass, unmeasured, withdrawn, type Finding } from '../verdict/finding.ts';
import { expiredAfterDelete, mayExpireInUse, TOO_SHORT } from './expiry.ts';
import { judgeKept, provenOf, unknownText, whyNotAtRest } from './kept.ts';
import type { Judge, Known } from './known.ts';

/** The registry entry is gone, in whatever way. */
export const reclaimedDeleted: Judge = (known, ofCase) => judgeDeleted(known, ofCase, 0);

/** The registry entry is gone, and not only because it expired. */
export const deregisters: Judge = (known, ofCase) => {
  // Sessions that expire in use are deleted a moment later: with a short timeout the two may meet.
  const surely = mayExpireInUse(known) ? 0 : known.retention.kept.deleted;
  const finding = judgeDeleted(known, ofCase, surely);
  return finding.status === 'pass' ? (perhapsExpired(known) ?? finding) : finding;
};

function judgeDeleted(known: Known, ofCase: string, surely: number): Finding {
  const { load, alone } = known;
  return judgeKept(known, {
    kind: 'deleted',
    // A class of sessions is counted over all cases of the target.
    count: load.final(catalogue.clientDeleted, alone ? { case: ofCase } : {}),
    played: load.played(catalogue.clientDeleted, { case: ofCase }),
    noun: 'deleted sessions',
    surely,
    reason: (kept) => `DELETE ends the session and keeps ${kept} registry entries${fateText(known)}.`,
  });
}

function fateText(known: Known): string {
  const { resting } = known.retention;
  const remnants = resting?.counts.remnants ?? 0;
  if (resting !== null && provenOf(known) === 0) return ' until they expire';
  return remnants > 0 ? `, ${remnants} of all being remnants whose transport has ended` : '';
}

/** Nothing is left of them at rest; but does the server's own count of expirations say why? null: DELETE it was. */
function perhapsExpired(known: Known): Finding | null {
  const { load, retention } = known;
  const most = expiredAfterDelete(known);
  if (most === 0) return null;
  const { openings, deletions } = load.unanswered;
  const why =
    openings + deletions > 0
      ? unknownText(load)
      : 'with so short an idle timeout, or beside sessions that others opened, the series do not tell. Play this case alone, on a server with an idle timeout of 30 s or more.';
  return unmeasured(
    `${retention.resting?.gained.expirations ?? 0} sessions expired, and up to ${most} of them had been deleted before: ${why}`,
  );
}

export const accepted: Judge = (known, ofCase) => {
  const { load } = known;
  const answers = (status: string): number => load.playedAnswers(status, { method: 'DELETE', case: ofCase });
  const [deletions, done, broken] = [answers(''), answers('2'), answers('0')];
  const bad = deletions - done - broken - answers('404');
  if (deletions === 0) return unmeasured('The series tell of no DELETE: let the load play this case.');
  if (bad > 0)
    return fail(
      '2xx',
      `${of(bad, deletions, 'DELETEs')} not so`,
      'The server did not accept the DELETE of live sessions.',
    );
  if (broken > 0) return unmeasured(`${of(broken, deletions, 'DELETEs')} got no answer.`);
  // Scripts also ask with ids that they have deleted: 404 is right there.
  if (done < load.played(catalogue.clientDeleted, { case: ofCase })) {
    if (mayExpireInUse(known)) return withdrawn(TOO_SHORT);
    // Two counters of k6 may stand in two of its writes.
    if (known.retention.resting === null) return unmeasured(whyNotAtRest(known));
    return fail(
      '2xx',
      `${of(done, deletions, 'DELETEs')} accepted`,
      'The server does not know live sessions when they are deleted.',
    );
  }
  return pass('2xx', `${done} DELETEs accepted`);
};
