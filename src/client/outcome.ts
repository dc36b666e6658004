/** From an HTTP answer to the facts that a step reports. */
import { EVENT_STREAM_TYPE, JSON_TYPE } from '../protocol/http.ts';
import type { Answer } from './reader.ts';
import type { Exchange } from './types.ts';

/**
 * What counts as answered as asked. reply: a JSON-RPC result. accepted: any 2xx that bears no JSON-RPC error.
 * stream: a 2xx event stream.
 */
export type Expected = 'reply' | 'accepted' | 'stream';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

type Verdict = Pick<Exchange, 'outcome' | 'code' | 'note'>;

const OK: Verdict = { outcome: 'ok' };

/** @param url the endpoint, against which a redirect is told apart from one to another host */
export function exchangeOf(answer: Answer, expected: Expected, url: URL): Exchange {
  const { startedAt, endedAt, status } = answer;
  const { outcome, code, note } = verdict(answer, expected, url);
  // Written out, because this runs for every request: spreads cost more than the rest of it.
  const exchange: Writable<Exchange> = { outcome, startedAt, endedAt };
  if (status !== undefined) exchange.status = status;
  if (code !== undefined) exchange.code = code;
  if (note !== undefined) exchange.note = note;
  if (answer.sessionId !== undefined) exchange.sid = true;
  return exchange;
}

/** The exchange of a step for which nothing was sent. */
export function localExchange(note?: string): Exchange {
  const now = performance.now();
  return { outcome: 'local', ...(note === undefined ? {} : { note }), startedAt: now, endedAt: now };
}

function verdict(answer: Answer, expected: Expected, url: URL): Verdict {
  const { failure, reply } = answer;
  const status = answer.status ?? 0;
  if (failure !== null)
    return { outcome: failure.kind === 'broken' ? 'broken' : 'local', note: failure.note };
  if (status >= 300 && status < 400) return { outcome: 'refused', note: redirection(answer.location, url) };
  if (reply?.kind === 'error') return { outcome: 'refused', code: reply.code };
  if (status >= 400) return { outcome: 'refused' };
  if (answer.contentType === 'text/html') return notMcp(answer);
  if (expected === 'reply') return replyVerdict(answer);
  if (expected === 'accepted' || answer.contentType === EVENT_STREAM_TYPE) return OK;
  return { outcome: 'refused', note: `answered ${typeOf(answer)} instead of an event stream` };
}

function replyVerdict(answer: Answer): Verdict {
  const { reply, contentType } = answer;
  if (reply?.kind === 'result') {
    if (reply.result['isError'] !== true) return OK;
    return { outcome: 'refused', note: 'the tool reports an error' };
  }
  if (contentType === EVENT_STREAM_TYPE) {
    return { outcome: 'broken', note: 'the event stream ended without the answer' };
  }
  if (contentType !== JSON_TYPE && contentType !== '') return notMcp(answer);
  if (reply === null) return { outcome: 'broken', note: 'the answer is empty' };
  if (reply.kind === 'unreadable' && contentType === JSON_TYPE) {
    return { outcome: 'broken', note: 'the answer is not readable JSON' };
  }
  return notMcp(answer);
}

function notMcp(answer: Answer): Verdict {
  return {
    outcome: 'refused',
    note: `answered ${typeOf(answer)}, not MCP: is this the endpoint's path?`,
  };
}

/** The media type by name where it is a common one: a server's words do not go into notes. */
function typeOf({ contentType }: Answer): string {
  if (contentType === '') return 'no content type';
  return /^[a-z]+\/[a-z0-9.+-]{1,40}$/.test(contentType) ? contentType : 'an unknown content type';
}

/** Where a redirect points, by host only: its path and query may hold secrets. */
function redirection(location: string | undefined, url: URL): string {
  const said = 'redirects are not followed: it points to';
  const target = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : null;
  if (target === null) return 'redirects are not followed: it does not say where to';
  return target.origin === url.origin ? `${said} another path on the same host` : `${said} ${target.host}`;
}
