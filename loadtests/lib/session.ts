/** The requests of one MCP session, from its opening to its end. None throws; each reports what came of it. */
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER, STREAM_HEADERS } from '../../src/protocol/http.ts';
import * as messages from '../../src/protocol/messages.ts';
import { REFUSAL_ID, type Refusal } from '../../src/protocol/refusals.ts';
import { canSpeak } from '../../src/protocol/version.ts';
import { local, post, send, type Endpoint, type Exchange } from './http.ts';

/** Milliseconds for an answer. */
const TIMEOUT_MS = 10_000;
/** Milliseconds that a GET which should be refused may stay open: then it was accepted. */
const REFUSED_MS = 1_000;
const INITIALIZE_ID = 1;

export interface Session {
  readonly key: string;
  /** null where the server keeps no sessions. */
  readonly id: string | null;
  readonly version: string;
  readonly offersTools: boolean;
  nextId: number;
  /** Milliseconds since the epoch of its last answer. */
  lastAt: number;
  deleted: boolean;
  /** Its DELETE was answered with success. */
  deleteAccepted: boolean;
  dropped: boolean;
  held: boolean;
  stream: Stream | null;
}

/** An event stream that was asked for. */
export interface Stream {
  readonly ended: Promise<Exchange>;
  /** Its answer, once that has ended. */
  over: Exchange | null;
}

export interface Opening {
  readonly exchange: Exchange;
  readonly session: Session | null;
  /** An id that came without a usable session: the server may hold an entry for it. */
  readonly stray: string | null;
}

export async function open(
  endpoint: Endpoint,
  key: string,
  options: { clientInfoBytes?: number },
): Promise<Opening> {
  const body = post(messages.initialize(INITIALIZE_ID, options), {});
  const exchange = await send(endpoint, {
    ...body,
    expected: 'reply',
    id: INITIALIZE_ID,
    timeoutMs: TIMEOUT_MS,
    name: 'open',
  });
  const offer = exchange.reply?.kind === 'result' ? messages.readOffer(exchange.reply.result) : null;
  const version = offer?.protocolVersion ?? null;
  const id = exchange.sessionId ?? null;
  if (exchange.outcome !== 'ok') return { exchange, session: null, stray: id };
  if (offer === null || !canSpeak(version)) {
    const note = 'the server chose a protocol version that this client does not speak';
    return { exchange: { ...exchange, outcome: 'refused', note }, session: null, stray: id };
  }
  const state = { deleted: false, deleteAccepted: false, dropped: false, held: false, stream: null };
  const base = { key, id, version, offersTools: offer.tools, nextId: INITIALIZE_ID + 1 };
  return { exchange, session: { ...base, lastAt: Date.now(), ...state }, stray: null };
}

const own = (session: Pick<Session, 'id' | 'version'>): Record<string, string> => ({
  [PROTOCOL_VERSION_HEADER]: session.version,
  ...(session.id !== null && { [SESSION_ID_HEADER]: session.id }),
});

export const initialized = (endpoint: Endpoint, session: Session): Promise<Exchange> =>
  send(endpoint, {
    ...post(messages.initialized(), own(session)),
    expected: 'accepted',
    timeoutMs: TIMEOUT_MS,
    name: 'initialized',
  });

export function ping(endpoint: Endpoint, session: Session): Promise<Exchange> {
  const id = session.nextId++;
  const request = { expected: 'reply', id, timeoutMs: TIMEOUT_MS, name: 'ping' } as const;
  return send(endpoint, { ...post(messages.ping(id), own(session)), ...request });
}

/** Calls a tool; where the server offers none, pings instead. */
export function call(
  endpoint: Endpoint,
  session: Session,
  tool: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
  seconds = 0,
): Promise<Exchange> {
  if (!session.offersTools) return ping(endpoint, session);
  const id = session.nextId++;
  const timeoutMs = TIMEOUT_MS + seconds * 1000;
  const message = messages.toolCall(id, tool.name, tool.arguments);
  return send(endpoint, { ...post(message, own(session)), expected: 'reply', id, timeoutMs, name: 'call' });
}

/** Opens the event stream and keeps it open for `seconds`, unless the server ends it before. */
export function openStream(endpoint: Endpoint, session: Session, seconds: number): Stream {
  const ended = send(endpoint, {
    method: 'GET',
    headers: { ...STREAM_HEADERS, ...own(session) },
    body: null,
    expected: 'stream',
    timeoutMs: seconds * 1000,
    name: 'stream',
  });
  const stream: Stream = { ended, over: null };
  void ended.then((exchange) => (stream.over = exchange));
  return stream;
}

export const del = (endpoint: Endpoint, session: Session): Promise<Exchange> =>
  session.id === null
    ? Promise.resolve(local('the server gave no session id: there is nothing to delete'))
    : useId(endpoint, session.id, session.version, 'DELETE');

/** Uses an id whatever its session's state. @param version null where it is not known */
export function useId(
  endpoint: Endpoint,
  id: string,
  version: string | null,
  method: 'POST' | 'GET' | 'DELETE',
): Promise<Exchange> {
  const bare = { [SESSION_ID_HEADER]: id, ...(version !== null && { [PROTOCOL_VERSION_HEADER]: version }) };
  if (method === 'POST') {
    const request = { expected: 'reply', id: 'use', timeoutMs: TIMEOUT_MS, name: 'reuse' } as const;
    return send(endpoint, { ...post(messages.ping('use'), bare), ...request });
  }
  const isGet = method === 'GET';
  return send(endpoint, {
    method,
    headers: isGet ? { ...STREAM_HEADERS, ...bare } : bare,
    body: null,
    expected: isGet ? 'stream' : 'accepted',
    timeoutMs: isGet ? REFUSED_MS : TIMEOUT_MS,
    name: isGet ? 'reuse' : 'delete',
  });
}

export interface RefusalResult {
  readonly exchange: Exchange;
  /** The session id in an answer that opened no session. */
  readonly echoedId: string | null;
  /** The session that the server opened all the same, with its revision: it must be closed. */
  readonly opened: { readonly id: string; readonly version: string | null } | null;
}

/** Sends an opening that the transport must refuse. */
export async function refuse(endpoint: Endpoint, refusal: Refusal): Promise<RefusalResult> {
  const { method, headers, body } = refusal;
  const asks = body !== null && messages.parseReply(body).kind === 'request';
  const isGet = method === 'GET';
  const exchange = await send(endpoint, {
    method,
    headers,
    body,
    // A GET that is answered with an event stream was accepted, as is anything else of success.
    expected: asks ? 'reply' : 'accepted',
    ...(asks && { id: REFUSAL_ID }),
    timeoutMs: isGet ? REFUSED_MS : TIMEOUT_MS,
    name: 'refuse',
  });
  const accepted: Exchange = isGet && exchange.open ? { ...exchange, outcome: 'ok' } : exchange;
  const offer =
    accepted.outcome === 'ok' && accepted.reply?.kind === 'result'
      ? messages.readOffer(accepted.reply.result)
      : null;
  const id = accepted.sessionId ?? null;
  if (offer === null || id === null) return { exchange: accepted, echoedId: id, opened: null };
  return { exchange: accepted, echoedId: null, opened: { id, version: offer.protocolVersion } };
}
