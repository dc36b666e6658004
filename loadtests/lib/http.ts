/**
 * One request of an MCP client over k6's HTTP: never retried, redirects not followed, no cookies. k6 gives an answer
 * when its body has ended or the time is up. Of a body that was cut then, it still gives what had arrived, but neither
 * status nor headers.
 */
import http, { CookieJar, type RefinedResponse } from 'k6/http';
import { judgeAnswer, type Expected } from '../../src/protocol/answer.ts';
import {
  EVENT_STREAM_TYPE,
  JSON_TYPE,
  mediaType,
  POST_HEADERS,
  SESSION_ID_HEADER,
} from '../../src/protocol/http.ts';
import { parseReply, type Reply, type RequestId } from '../../src/protocol/messages.ts';
import { SseParser } from '../../src/protocol/sse.ts';

export interface Request {
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly expected: Expected;
  /** The request's id, where its answer is a reply. */
  readonly id?: RequestId;
  readonly timeoutMs: number;
  /** The step's name, for k6's own metrics. */
  readonly name: string;
}

/** What came of a request, as the session client of `check` reports it. */
export interface Exchange {
  readonly outcome: 'ok' | 'refused' | 'broken' | 'local';
  readonly status?: number;
  readonly code?: number;
  readonly note?: string;
  readonly sessionId?: string;
  readonly reply: Reply | null;
  /** Headers had arrived before the answer was cut, by the connection or by us. */
  readonly begun: boolean;
  /** The answer had begun and was still open when the time was up. */
  readonly open: boolean;
  readonly ms: number;
}

export interface Endpoint {
  readonly url: string;
  /** Sent with every request; may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

type Response = RefinedResponse<'text'>;

export async function send(endpoint: Endpoint, request: Request): Promise<Exchange> {
  const { method, headers, body, timeoutMs, name } = request;
  const startedAt = Date.now();
  const response = await http.asyncRequest(method, endpoint.url, body, {
    headers: { ...endpoint.headers, ...headers },
    timeout: timeoutMs,
    redirects: 0,
    responseType: 'text',
    jar: new CookieJar(),
    tags: { name },
  });
  const ms = Date.now() - startedAt;
  return response.status > 0 ? answered(response, request, ms) : unanswered(response, request, ms);
}

export const local = (note: string): Exchange => ({
  outcome: 'local',
  note,
  reply: null,
  begun: false,
  open: false,
  ms: 0,
});

/** A POST with what every message bears. */
export const post = (message: object, own: Readonly<Record<string, string>>) => ({
  method: 'POST',
  headers: { ...POST_HEADERS, ...own },
  body: JSON.stringify(message),
});

function answered(response: Response, request: Request, ms: number): Exchange {
  const { status } = response;
  const contentType = mediaType(header(response, 'content-type'));
  const sessionId = header(response, SESSION_ID_HEADER);
  const reply = replyOf(response.body ?? '', contentType, request);
  const seen = { status, reply, begun: true, open: false, ms, ...(sessionId !== undefined && { sessionId }) };
  if (status >= 300 && status < 400)
    return { ...seen, outcome: 'refused', note: 'redirects are not followed' };
  return { ...seen, ...judgeAnswer({ status, contentType, reply }, request.expected) };
}

/** Header names come as the server's side of k6 writes them. */
function header({ headers }: Response, name: string): string | undefined {
  const found = Object.keys(headers).find((key) => key.toLowerCase() === name);
  return found === undefined ? undefined : headers[found];
}

function replyOf(body: string, contentType: string, { id }: Request): Reply | null {
  if (contentType === EVENT_STREAM_TYPE) return id === undefined ? null : replyIn(body, id);
  const mayBearReply = contentType === JSON_TYPE || contentType === '';
  return mayBearReply && body !== '' ? parseReply(body) : null;
}

/** The message in an event stream that answers a request. */
function replyIn(text: string, id: RequestId): Reply | null {
  const messages = new SseParser()
    .push(text)
    .filter((event) => event.type === 'message' && event.data !== '')
    .map((event) => parseReply(event.data));
  const isAnswer = (message: Reply): boolean =>
    message.kind === 'error'
      ? message.id === null || message.id === id
      : message.kind === 'result' && message.id === id;
  return messages.find(isAnswer) ?? null;
}

const TIMEOUT = 1050;

/** k6's codes for what never reached the server: names that cannot be looked up, connections not accepted, TLS. */
const isUnsent = (code: number): boolean =>
  (code >= 1100 && code < 1200) || (code >= 1210 && code < 1220) || (code >= 1300 && code < 1400);

function unanswered(response: Response, request: Request, ms: number): Exchange {
  const code = response.error_code;
  // Headers have arrived where something was being received.
  const begun = response.timings.receiving > 0;
  const none = { reply: null, begun, open: false, ms };
  if (isUnsent(code)) return { ...none, outcome: 'local', note: `nothing was sent (k6 error ${code})` };
  if (code !== TIMEOUT)
    return { ...none, outcome: 'broken', note: `the connection broke (k6 error ${code})` };
  const late = `no complete answer within ${request.timeoutMs} ms`;
  if (!begun) return { ...none, outcome: 'broken', note: late };
  const open = { ...none, open: true };
  if (request.expected === 'stream') return { ...open, outcome: 'ok', note: 'the stream was still open' };
  const reply = request.id === undefined ? null : replyIn(response.body ?? '', request.id);
  // Without its headers, an opening's session id is not known: nothing can be said of its session.
  if (reply === null || request.name === 'open') return { ...open, outcome: 'broken', note: late };
  if (reply.kind === 'error') return { ...open, reply, outcome: 'refused', code: reply.code };
  return { ...open, reply, outcome: 'ok', note: 'the answer came on a stream that was not ended' };
}
