/** HTTP as the session client needs it: bounded, never retried, never pipelined, redirects not followed. */
import { isIP } from 'node:net';
import { Pool } from 'undici';
import {
  POST_HEADERS,
  PROTOCOL_VERSION_HEADER,
  SESSION_ID_HEADER,
  STREAM_HEADERS,
} from '../protocol/http.ts';
import type { Reply } from '../protocol/messages.ts';
import type { Method } from '../protocol/refusals.ts';
import { AnswerReader, type Answer, type Reading } from './reader.ts';
import type { Endpoint } from './types.ts';

/** Header names and values in turn, ready for the wire. */
export type HeaderList = string[];

export interface RequestOptions {
  readonly reading: Reading;
  /** Milliseconds until the answer must be complete; default: the endpoint's. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onMessage?: ((message: Reply) => void) | undefined;
  readonly onSent?: (() => void) | undefined;
}

/** How often deadlines are looked at: they may be late by this much. */
const SWEEP_MS = 50;

/** Idle connections are given up before common servers do, so that few requests meet a closing one. */
const IDLE_CONNECTION_MS = 1_000;

/** Headers that an endpoint cannot set: they follow from the session. */
const OWN_HEADERS: readonly string[] = [SESSION_ID_HEADER, PROTOCOL_VERSION_HEADER];

/** The connections to one endpoint. A request that failed is never sent again. */
export class HttpTransport {
  readonly endpoint: Endpoint;
  readonly url: URL;
  /** Complete headers of a POST, of the stream's GET and of a DELETE, but for those of a session. */
  readonly postHeaders: HeaderList;
  readonly streamHeaders: HeaderList;
  readonly deleteHeaders: HeaderList;
  readonly #path: string;
  readonly #tls: { readonly servername?: string };
  readonly #pool: Pool;
  readonly #readers = new Set<AnswerReader>();
  readonly #onGone = (reader: AnswerReader): boolean => this.#readers.delete(reader);
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  /** @throws TypeError when the endpoint's URL is not one. */
  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
    this.url = new URL(endpoint.url);
    this.#path = this.url.pathname + this.url.search;
    // Left to itself, undici would check the certificate against a Host header that a refusal makes up.
    const named = this.url.protocol === 'https:' && isIP(this.url.hostname.replace(/[[\]]/g, '')) === 0;
    this.#tls = named ? { servername: this.url.hostname } : {};
    this.postHeaders = this.headers(POST_HEADERS);
    this.streamHeaders = this.headers(STREAM_HEADERS);
    this.deleteHeaders = this.headers({});
    // Deadlines are the sweep's: one timer for all requests, which also covers queueing and trickling bodies.
    this.#pool = new Pool(this.url.origin, {
      pipelining: 1,
      connect: { timeout: endpoint.timeoutMs },
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    });
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  /** The endpoint's own headers together with these, which win. */
  headers(more: Readonly<Record<string, string>>): HeaderList {
    const merged = new Map<string, string>();
    for (const [name, value] of Object.entries(this.endpoint.headers)) {
      if (!OWN_HEADERS.includes(name.toLowerCase())) merged.set(name.toLowerCase(), value);
    }
    for (const [name, value] of Object.entries(more)) merged.set(name.toLowerCase(), value);
    return [...merged].flat();
  }

  /** Sends a request once and reads as much of its answer as is wanted. Never rejects. */
  request(
    method: Method,
    headers: HeaderList,
    body: string | null,
    options: RequestOptions,
  ): Promise<Answer> {
    return this.start(method, headers, body, options).answer;
  }

  /** Like `request`, for those who need to hold the exchange: to give it up, or to follow its stream. */
  start(method: Method, headers: HeaderList, body: string | null, options: RequestOptions): AnswerReader {
    const reader = new AnswerReader({
      reading: options.reading,
      startedAt: performance.now(),
      timeoutMs: options.timeoutMs ?? this.endpoint.timeoutMs,
      onMessage: options.onMessage,
      onSent: options.onSent,
      onGone: this.#onGone,
    });
    this.#readers.add(reader);
    if (options.signal !== undefined) leaveOn(options.signal, reader);
    this.#pool.dispatch({ path: this.#path, method, headers, body, ...this.#tls }, reader);
    return reader;
  }

  /** Cuts whatever is still open; what was in flight is reported as broken. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    for (const reader of this.#readers) reader.leave('the client was closed');
    await this.#pool.destroy();
  }

  #sweep(): void {
    const now = performance.now();
    for (const reader of this.#readers) reader.sweep(now);
  }
}

function leaveOn(signal: AbortSignal, reader: AnswerReader): void {
  const leave = (): void => reader.leave('interrupted');
  if (signal.aborted) {
    leave();
    return;
  }
  signal.addEventListener('abort', leave, { once: true });
  void reader.answer.then(() => signal.removeEventListener('abort', leave));
}
