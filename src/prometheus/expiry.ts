/** Which sessions may have expired: the server counts expirations, and not whose they were. */
import * as catalogue from '../metrics/catalogue.ts';
import type { Known } from './known.ts';

/** A load side that is slow may let a session idle for longer than this between two of its requests. */
const SURELY_BUSY_SECONDS = 30;

/** Whether a session that the load side uses can expire rightly: the series do not tell how long each was idle. */
export const mayExpireInUse = ({ server }: Known): boolean =>
  server.idleTimeout !== null && server.idleTimeout < SURELY_BUSY_SECONDS;

export const TOO_SHORT =
  'The idle timeout is so short that a slow load side may let sessions in use expire, and the series do not tell how long each was idle.';

/** Registered in the run by other openings than those that the load side knows to have succeeded. */
export const unopenedOf = ({ load, retention: { resting } }: Known): number =>
  Math.max(0, (resting?.gained.registrations ?? 0) - load.final(catalogue.clientOpened));

/** At most so many of the sessions whose DELETE was accepted had left by expiry alone when all was at rest. */
export function expiredAfterDelete(known: Known): number {
  const { load, retention } = known;
  if (retention.resting === null) return Infinity;
  const { expirations, removals } = retention.resting.gained;
  // What was not opened, or may have been deleted without an answer, may be among the removals.
  const byDelete = removals - expirations - unopenedOf(known) - load.unanswered.deletions;
  return Math.max(0, Math.min(expirations, load.accepted.max - byDelete));
}
