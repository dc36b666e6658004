/** Claims about the bounds in force: idle timeout and cap. */
import * as catalogue from '../metrics/catalogue.ts';
import { fail, pass, unmeasured, withdrawn, type Finding } from '../verdict/finding.ts';
import type { Judge, Known } from './known.ts';

export const bounded: Judge = ({ server, retention, policy }) => {
  if (server.managers.length === 0) return unmeasured(retention.distrust ?? 'The registry is not counted.');
  const { idleTimeout: idle, limit: cap } = server;
  const { idleMaxSeconds, maxSessions } = policy;
  const observed = `idle timeout ${idle === null ? 'none' : `${idle} s`}, cap ${cap ?? 'none'}`;
  if (idle === null && cap === null) {
    // Without a series the probe found none, or cannot tell: the Python probe can.
    if (server.sdk?.name !== 'mcp')
      return withdrawn('No series tells an idle timeout or a cap, which this probe may be unable to tell.');
    return fail(
      'an idle timeout or a cap',
      observed,
      'Nothing ever ends an abandoned session: neither expiry nor cap is in force by default.',
    );
  }
  if (idleMaxSeconds !== null && (idle ?? Infinity) > idleMaxSeconds)
    return fail(
      `idle timeout at most ${idleMaxSeconds} s`,
      observed,
      `Sessions idle longer than the policy's ${idleMaxSeconds} s are kept.`,
    );
  if (maxSessions !== null && server.managers.some(({ limit }) => (limit ?? Infinity) > maxSessions))
    return fail(
      `cap at most ${maxSessions} of each manager`,
      observed,
      `More sessions than the policy's ${maxSessions} are let in.`,
    );
  return pass('an idle timeout or a cap', observed);
};

export const capRefuses: Judge = (known) => {
  const { load, server, retention, alone } = known;
  const none = withoutCap(known);
  if (none !== null) return none;
  const full = server.fullest(retention.begin, server.times.at(-1) ?? 0);
  const turnedAway = load.played(catalogue.clientRefused, { reason: 'over-cap' });
  if (full === null) return unmeasured('No series tells the cap.');
  const observed = `at most ${full.most} registered of one manager, ${turnedAway} openings refused`;
  const expected = `at most ${full.limit} registered of each manager`;
  if (full.most > full.limit)
    return fail(expected, observed, `Openings over the cap are let in: ${full.most - full.limit} beyond it.`);
  if (turnedAway > 0) return pass(expected, observed);
  const why = `The cap of ${full.limit} was not met: at most ${full.most} were registered at a scrape, and no opening was refused.`;
  return alone ? unmeasured(why) : withdrawn(why);
};

/** Global: the count of every manager against its own cap, and of refusals on both sides. */
export const capExact: Judge = (known) => {
  const refuses = withoutCap(known) ?? capRefuses(known, '');
  if (refuses.status !== 'pass')
    return refuses.status === 'fail' && known.server.limit !== null ? refuses : withdrawn(refuses.reason);
  const { load, server, retention } = known;
  const full = server.fullest(retention.begin, server.times.at(-1) ?? 0);
  const opened = load.final(catalogue.clientOpened) + (retention.baseline?.registered ?? 0);
  if (full !== null && opened < full.limit)
    return fail(
      refuses.expected,
      `${opened} opened in all, ${refuses.observed}`,
      'Openings are refused although there was room.',
    );
  if (full !== null && full.most < full.limit)
    return unmeasured(
      `At no scrape was a manager seen at its cap of ${full.limit} (at most ${full.most}): hold the sessions for longer than a scrape interval.`,
    );
  return pass(refuses.expected, refuses.observed);
};

function withoutCap({ server, retention, alone }: Known): Finding | null {
  if (server.managers.length === 0) return unmeasured(retention.distrust ?? 'The registry is not counted.');
  if (server.limit !== null) return null;
  const none = 'This build has no session cap, as far as its series tell';
  return alone && server.sdk?.name === 'mcp'
    ? fail('openings beyond a cap are refused', 'no cap', `${none}.`)
    : withdrawn(`${none}: whether that is right is for abandon.bounded to say.`);
}
