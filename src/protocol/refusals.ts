/**
 * Openings that a Streamable HTTP transport must refuse, as complete requests, so that every runtime sends the
 * same. None of them may leave a session behind.
 */
import {
  ACCEPT_BOTH,
  EVENT_STREAM_TYPE,
  JSON_TYPE,
  PROTOCOL_VERSION_HEADER,
  SESSION_ID_HEADER,
} from './http.ts';
import { POST_HEADERS, STREAM_HEADERS } from './http.ts';
import { initialize, initialized, ping } from './messages.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

export interface Refusal {
  /** Stable name, as it stands in plans and recordings. */
  readonly kind: string;
  readonly method: Method;
  /** Every header that matters, names in lower case; `host` replaces the target's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /**
   * A server may by right accept it, by its settings or by a loose reading of the specification. Then it is an
   * ordinary opening, and what it opened must be closed.
   */
  readonly lenient: boolean;
}

/** JSON-RPC id of every refused request that bears one. */
export const REFUSAL_ID = 1;

const OPENING = JSON.stringify(initialize(REFUSAL_ID));
const PING = JSON.stringify(ping(REFUSAL_ID));

function post(kind: string, headers: Readonly<Record<string, string>>, body: string): Refusal {
  return { kind, method: 'POST', headers: { ...POST_HEADERS, ...headers }, body, lenient: false };
}

function bare(kind: string, method: Method, headers: Readonly<Record<string, string>> = {}): Refusal {
  return { kind, method, headers, body: null, lenient: false };
}

function lenient(refusal: Refusal): Refusal {
  return { ...refusal, lenient: true };
}

export const REFUSALS: readonly Refusal[] = [
  // Only initialize may come without a session.
  post('ping-without-session', {}, PING),
  post('notification-without-session', {}, JSON.stringify(initialized())),
  post('made-up-session-id', { [SESSION_ID_HEADER]: 'mcp-retention-made-up' }, PING),

  // A client must accept both types; a server that answers with one of them may be content with that one.
  lenient(post('accept-json-only', { accept: JSON_TYPE }, OPENING)),
  post('accept-event-stream-only', { accept: EVENT_STREAM_TYPE }, OPENING),
  post('accept-html', { accept: 'text/html' }, OPENING),
  lenient(post('accept-any', { accept: '*/*' }, OPENING)),

  post('content-type-text', { 'content-type': 'text/plain' }, OPENING),
  post('bad-json', {}, OPENING.slice(0, OPENING.length / 2)),
  post('empty-body', {}, ''),
  post('wrong-shape', {}, '{"not":"JSON-RPC"}'),
  post('json-array', {}, `[${PING}]`),

  bare('get-event-stream', 'GET', STREAM_HEADERS),
  bare('get-json', 'GET', { accept: JSON_TYPE }),
  bare('head', 'HEAD', { accept: ACCEPT_BOTH }),
  bare('delete-without-session', 'DELETE', { accept: ACCEPT_BOTH }),
  { ...post('put', {}, OPENING), method: 'PUT' },
  { ...post('patch', {}, OPENING), method: 'PATCH' },
  // HTTP lets a server answer OPTIONS with what it allows.
  lenient(bare('options', 'OPTIONS', { accept: ACCEPT_BOTH })),

  // Checks that a server need not make everywhere: rebinding protection, a header that says too much.
  lenient(post('bad-host', { host: 'attacker.invalid' }, OPENING)),
  lenient(post('bad-origin', { origin: 'https://attacker.invalid' }, OPENING)),
  lenient(post('unknown-protocol-version', { [PROTOCOL_VERSION_HEADER]: '1999-12-31' }, OPENING)),
];
