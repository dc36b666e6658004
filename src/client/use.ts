/** Single requests outside a session's life: with a given id, or an opening that must be refused. */
import {
  POST_HEADERS,
  PROTOCOL_VERSION_HEADER,
  SESSION_ID_HEADER,
  STREAM_HEADERS,
} from '../protocol/http.ts';
import { parseReply, ping, readOffer } from '../protocol/messages.ts';
import { REFUSAL_ID, type Refusal } from '../protocol/refusals.ts';
import type { HttpTransport } from './http.ts';
import { SessionId } from './id.ts';
import { exchangeOf } from './outcome.ts';
import type { Answer, Reading } from './reader.ts';
import type { Exchange } from './types.ts';

const WHOLE: Reading = { until: 'end' };
const HEADERS: Reading = { until: 'headers' };

/** Request ids that do not meet those of the session itself. */
let uses = 0;

/**
 * Uses a session id whatever its session's state: POST pings, GET asks for the event stream and closes it at
 * once, DELETE deletes. Reported as answered: 404 is a refusal here.
 */
export async function useId(
  transport: HttpTransport,
  id: SessionId,
  method: 'POST' | 'GET' | 'DELETE',
): Promise<Exchange> {
  const own = {
    [SESSION_ID_HEADER]: id.reveal(),
    ...(id.version === null ? {} : { [PROTOCOL_VERSION_HEADER]: id.version }),
  };
  if (method === 'POST') return pingWith(transport, own);
  const headers = transport.headers(method === 'GET' ? { ...STREAM_HEADERS, ...own } : own);
  const reading = method === 'GET' ? HEADERS : WHOLE;
  const answer = await transport.request(method, headers, null, { reading });
  return exchangeOf(answer, method === 'GET' ? 'stream' : 'accepted', transport.url);
}

async function pingWith(transport: HttpTransport, own: Record<string, string>): Promise<Exchange> {
  const message = ping(`use-${++uses}`);
  const headers = transport.headers({ ...POST_HEADERS, ...own });
  const reading: Reading = { until: 'reply', id: message.id };
  const answer = await transport.request('POST', headers, JSON.stringify(message), { reading });
  return exchangeOf(answer, 'reply', transport.url);
}

export interface RefusalResult {
  /** ok when the server accepted what it should have refused. */
  readonly exchange: Exchange;
  /** The session id in an answer that opened no session. */
  readonly echoedId: SessionId | null;
  /** The session that the server opened all the same: it must be closed. */
  readonly opened: SessionId | null;
}

/** Sends an opening that the transport must refuse, together with the endpoint's own headers. */
export async function sendRefusal(transport: HttpTransport, refusal: Refusal): Promise<RefusalResult> {
  const asks = refusal.body !== null && parseReply(refusal.body).kind === 'request';
  const reading: Reading = asks
    ? { until: 'reply', id: REFUSAL_ID }
    : refusal.method === 'GET'
      ? HEADERS
      : WHOLE;
  const headers = transport.headers(refusal.headers);
  const answer = await transport.request(refusal.method, headers, refusal.body, { reading });
  const exchange = exchangeOf(answer, asks ? 'reply' : 'accepted', transport.url);
  const version = openedVersion(answer, exchange);
  const id = answer.sessionId === undefined ? null : new SessionId(answer.sessionId, version ?? null);
  return version === undefined
    ? { exchange, echoedId: id, opened: null }
    : { exchange, echoedId: null, opened: id };
}

/** The revision in the result of initialize; undefined where the answer is not one. */
function openedVersion({ reply }: Answer, { outcome }: Exchange): string | null | undefined {
  if (outcome !== 'ok' || reply?.kind !== 'result') return undefined;
  return readOffer(reply.result)?.protocolVersion;
}
