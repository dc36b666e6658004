/**
 * What keeps claims from being asked of a server, whoever plays the cases: the verdict and the k6 scripts measure and
 * say it alike.
 */

/** Of a server that keeps no sessions. */
export const SESSIONLESS =
  'The server answers initialize without a session id: it keeps no sessions for its clients.';

/** DELETE may be declined with 405 (Streamable HTTP, session management). */
export const declinesDelete = ({ step, status }: { step: string; status?: number | undefined }): boolean =>
  step === 'delete' && status === 405;

/** Of claims about deleted sessions, where every DELETE was declined. */
export const DELETE_DECLINED = 'The server declines DELETE (405): there are no deleted sessions to look at.';

/** Milliseconds. Requests that follow their session's last one at once: no server has let go of it meanwhile. */
const AT_ONCE_MS = 100;

const FOLLOWING = new Set(['initialized', 'call']);

/**
 * Whether 404 to this step can only mean that another worker was asked.
 * @param sinceMs milliseconds since its session was heard of; null where that is not known
 */
export const followsAtOnce = (step: string, sinceMs: number | null): boolean =>
  FOLLOWING.has(step) && (sinceMs ?? Infinity) < AT_ONCE_MS;

/** @param lost how many of `asked` requests that followed at once were answered with 404 */
export const misrouted = (lost: number, asked: number): string =>
  `${lost} of ${asked} requests got 404 right after their session was opened: several workers without session affinity (or sessions that end at once). Send each session to the worker that opened it, or measure one worker.`;
