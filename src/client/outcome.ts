/** From an HTTP answer to the facts that a step reports. */
import { judgeAnswer, type Expected } from '../protocol/answer.ts';
import type { Answer } from './reader.ts';
import type { Exchange } from './types.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

type Verdict = Pick<Exchange, 'outcome' | 'code' | 'note'>;

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
  const { failure, contentType, reply } = answer;
  const status = answer.status ?? 0;
  if (failure !== null)
    return { outcome: failure.kind === 'broken' ? 'broken' : 'local', note: failure.note };
  if (status >= 300 && status < 400) return { outcome: 'refused', note: redirection(answer.location, url) };
  return judgeAnswer({ status, contentType, reply }, expected);
}

/** Where a redirect points, by host only: its path and query may hold secrets. */
function redirection(location: string | undefined, url: URL): string {
  const said = 'redirects are not followed: it points to';
  const target = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : null;
  if (target === null) return 'redirects are not followed: it does not say where to';
  return target.origin === url.origin ? `${said} another path on the same host` : `${said} ${target.host}`;
}
