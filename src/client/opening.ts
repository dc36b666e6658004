/** The opening of a session: initialize, negotiation of the revision, and what is left when it fails. */
import { initialize, readOffer } from '../protocol/messages.ts';
import { canSpeak } from '../protocol/version.ts';
import type { HttpTransport } from './http.ts';
import { SessionId } from './id.ts';
import { exchangeOf } from './outcome.ts';
import type { Answer } from './reader.ts';
import type { Exchange } from './types.ts';
import { useId } from './use.ts';

export interface OpenOptions {
  /** Pads the client's description so that the body of initialize has this many bytes. */
  readonly clientInfoBytes?: number | undefined;
  /** Milliseconds until the answer to initialize must be complete; default: the endpoint's. */
  readonly timeoutMs?: number | undefined;
}

/** What a server agreed to. */
export interface Agreement {
  readonly id: SessionId | null;
  readonly version: string;
  readonly tools: boolean;
}

export interface OpeningResult {
  readonly exchange: Exchange;
  readonly agreement: Agreement | null;
  /** An id that came without an agreement: the server may hold an entry for it. */
  readonly stray: SessionId | null;
}

/** JSON-RPC id of initialize; the session goes on from the next. */
export const INITIALIZE_ID = 1;

const BARE_BODY = JSON.stringify(initialize(INITIALIZE_ID));

export async function openSession(transport: HttpTransport, options: OpenOptions): Promise<OpeningResult> {
  const { clientInfoBytes, timeoutMs } = options;
  const body =
    clientInfoBytes === undefined
      ? BARE_BODY
      : JSON.stringify(initialize(INITIALIZE_ID, { clientInfoBytes }));
  const reading = { until: 'reply', id: INITIALIZE_ID } as const;
  const answer = await transport.request('POST', transport.postHeaders, body, { reading, timeoutMs });
  const exchange = exchangeOf(answer, 'reply', transport.url);
  if (exchange.outcome !== 'ok') return { exchange, agreement: null, stray: idOf(answer, null) };
  return agree(transport, answer, exchange);
}

async function agree(transport: HttpTransport, answer: Answer, exchange: Exchange): Promise<OpeningResult> {
  const offer = answer.reply?.kind === 'result' ? readOffer(answer.reply.result) : null;
  const version = offer?.protocolVersion ?? null;
  const id = idOf(answer, version);
  if (offer !== null && canSpeak(version)) {
    return { exchange, agreement: { id, version, tools: offer.tools }, stray: null };
  }
  const refused: Exchange = { ...exchange, outcome: 'refused', note: disagreement(version) };
  if (id === null) return { exchange: refused, agreement: null, stray: null };
  const { outcome, status } = await useId(transport, id, 'DELETE');
  const gone = outcome === 'ok' || status === 404;
  return { exchange: refused, agreement: null, stray: gone ? null : id };
}

function disagreement(version: string | null): string {
  // The server's own words go into a note only where they look like a revision.
  if (version === null) return 'the answer to initialize names no protocol version';
  const named = /^[\w.-]{1,20}$/.test(version) ? version : 'a protocol version';
  return `the server chose ${named}, which this client does not speak`;
}

function idOf(answer: Answer, version: string | null): SessionId | null {
  return answer.sessionId === undefined ? null : new SessionId(answer.sessionId, version);
}
