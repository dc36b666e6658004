/** The claims that sessions which should last do: those that a client works with, or left less than a timeout ago. */
import * as catalogue from '../metrics/catalogue.ts';
import { fail, pass, unmeasured, withdrawn, type Finding } from '../verdict/finding.ts';
import { expiredAfterDelete, mayExpireInUse, TOO_SHORT, unopenedOf } from './expiry.ts';
import { heldBefore, nothingPlayed, unknownText, whyNotAtRest } from './kept.ts';
import type { Judge, Known } from './known.ts';
import { FIRST_LOOK } from './retention.ts';

/** Sessions of the run that ended without the load side's doing, at least; null: not known. */
function lost(known: Known): number | null {
  const { load, retention } = known;
  const { resting, distrust, use } = retention;
  if (resting === null || distrust !== null) return null;
  // Those that were left, that are there without the load side's knowing, or that a DELETE should have ended.
  const allowed =
    load.final(catalogue.clientAbandoned) +
    load.final(catalogue.clientUncertain) +
    Math.max(0, unopenedOf(known) - FIRST_LOOK) +
    expiredAfterDelete(known);
  return Math.max(0, resting.gained.expirations - allowed, -resting.drift, use.missing);
}

/** More expirations than abandoned sessions that are gone: whose they were is not known. null: there are none. */
function unexplained({ load, retention: { resting } }: Known): Finding | null {
  if (resting === null) return null;
  const gone = load.final(catalogue.clientAbandoned) - load.both - resting.counts.registered;
  const more = resting.gained.expirations - Math.max(0, gone);
  if (more <= 0) return null;
  return unmeasured(
    `${more} sessions expired besides the abandoned ones that are gone, and the series do not tell whether they were in use. Play this case alone, where every request is answered.`,
  );
}

export const aliveWithin: Judge = (known, ofCase) => {
  const { load, retention } = known;
  const found = lost(known);
  if (found === null) return unmeasured(retention.distrust ?? whyNotAtRest(known));
  if (mayExpireInUse(known)) return withdrawn(TOO_SHORT);
  if (found > 0)
    return fail(
      'all still registered',
      `${found} are not`,
      'Abandoned sessions leave the registry before their idle timeout: clients lose work.',
    );
  if (load.played(catalogue.clientAbandoned, { case: ofCase }) === 0)
    return unmeasured(nothingPlayed(known, 'abandoned sessions'));
  return allThere(known);
};

/** None is proven to be lost: then as many must be registered as may be. */
function allThere(known: Known): Finding {
  const { load, retention } = known;
  const { resting, policy, baseline } = retention;
  const [registered, before] = [resting?.counts.registered ?? 0, baseline?.registered ?? 0];
  const most = resting?.expected.max ?? 0;
  if (most - before === 0)
    return withdrawn(
      `At rest no abandoned session was left to expect (deleted in the end, or idle for ${policy.idle} s): the series do not tell whether it lived until then.`,
    );
  if (registered < most)
    return unmeasured(
      before > 0
        ? heldBefore(before, 'lost')
        : `${registered} sessions are registered at rest, where up to ${most} may be: ${unknownText(load)}`,
    );
  return unexplained(known) ?? pass('all still registered', `${registered} registered`);
}

export const streamSurvives: Judge = (known, ofCase) => {
  const { server, retention } = known;
  const found = lost(known);
  if (mayExpireInUse(known)) return withdrawn(TOO_SHORT);
  if (found !== null && found > 0)
    return fail(
      'no session in use expires',
      `${found} expired`,
      'Sessions expire while the load side uses them: idleness is counted from arrival, not from the last request in flight.',
    );
  const isAsked = retention.use.most > 0;
  if (server.idleTimeout === null || (ofCase !== 'keepalive' && !isAsked))
    return withdrawn(
      'The idle timeout is longer than the load holds a session quietly, or there is none: nothing was put to the test.',
    );
  if (found === null) return unmeasured(retention.distrust ?? whyNotAtRest(known));
  if (!isAsked)
    return unmeasured(
      'No scrape of the server fell into a time at which a session was in use for longer than the idle timeout: scrape more often, or let the load hold sessions for longer.',
    );
  return unexplained(known) ?? pass('no session in use expires', '0 expired');
};
