/**
 * What the claims say, and which single answer holds good for those that are judged answer by answer. Pure, so that
 * the verdict and k6 scripts use the same words and the same measure.
 */
import { REFUSALS } from '../protocol/refusals.ts';

/** The sentence of every claim, by its id. */
export const SAYS = {
  'abandon.alive-within-timeout': 'A session whose connection closed still answers within its idle timeout.',
  'abandon.bounded': 'By default, abandoned sessions are bounded by an expiry or a cap.',
  'abandon-expiry.alive-before': 'Before its idle timeout an abandoned session still answers.',
  'abandon-expiry.reclaimed': 'After its idle timeout an abandoned session has left the registry.',
  'abandon-expiry.id-refused': 'The id of an expired session is refused.',
  'delete.accepted': 'DELETE of a live session is answered with success.',
  'delete.deregisters': 'A deleted session leaves the registry.',
  'delete.id-refused': 'The id of a deleted session is refused, for POST and GET.',
  'delete.repeat-settles': 'A second DELETE is answered, and not with a server error.',
  'delete.reopens': 'After DELETE the same client can open a new session.',
  'delete-expiry.reclaimed': 'With an idle timeout, nothing of a deleted session is left after it.',
  'identity.holds': 'At every sample the registry holds what was registered minus what was removed.',
  'survival.serves-after': 'After the case the server opens a session, answers a call and closes it.',
  'keepalive.stream-survives': 'A session with an open stream outlives its idle timeout.',
  'keepalive.call-completes': 'A call that runs longer than the idle timeout completes.',
  'keepalive.expires-after': 'Once stream and call are over, the session expires.',
  'over-cap.refuses': 'Over the cap, an opening is refused.',
  'over-cap.exact': 'Racing openings fill the cap exactly: none too many, none too few.',
  'over-cap.evicts-none': 'Sessions that are open stay open when others are refused.',
  'over-cap.room-returns': 'After one DELETE at the cap, one opening succeeds.',
  'reject.refused': 'Every opening that the transport must refuse is refused.',
  'reject.registers-nothing': 'A refused opening leaves nothing registered.',
  'reject.id-unusable': 'A session id that a refusal echoes cannot be used.',
} as const satisfies Record<string, string>;

export type ClaimId = keyof typeof SAYS;

/** One step that was answered, as far as a claim looks at it. */
export interface Told {
  readonly outcome: 'ok' | 'refused' | 'broken' | 'local';
  readonly status?: number | undefined;
  /** Of a refused opening: its kind. */
  readonly kind?: string | undefined;
  /** Of an opening after another: whether the session id is a new one. */
  readonly fresh?: boolean | undefined;
}

const isOk = (told: Told): boolean => told.outcome === 'ok';

const isClientError = (told: Told): boolean =>
  told.outcome === 'refused' && told.status !== undefined && told.status >= 400 && told.status < 500;

/** Refused by HTTP or by JSON-RPC, and not by a server that failed. */
const isRefusedInOrder = (told: Told): boolean => told.outcome === 'refused' && (told.status ?? 500) < 500;

const lenient = new Set(REFUSALS.filter((refusal) => refusal.lenient).map((refusal) => refusal.kind));

/** Whether a single answer agrees with a claim that is judged answer by answer. */
export const AGREES = {
  'abandon.alive-within-timeout': isOk,
  'abandon-expiry.alive-before': isOk,
  'abandon-expiry.id-refused': isRefusedInOrder,
  // A client takes 404 for success too, but the session was there.
  'delete.accepted': (told) => isOk(told) && told.status !== 404,
  'delete.id-refused': isClientError,
  'delete.repeat-settles': (told) => isOk(told) || isClientError(told),
  'delete.reopens': (told) => isOk(told) && told.fresh !== false,
  'keepalive.call-completes': isOk,
  'over-cap.refuses': (told) => !isOk(told),
  'over-cap.evicts-none': isOk,
  'over-cap.room-returns': isOk,
  'reject.refused': (told) => lenient.has(told.kind ?? '') || isClientError(told),
  'reject.id-unusable': isRefusedInOrder,
} as const satisfies Partial<Record<ClaimId, (told: Told) => boolean>>;
