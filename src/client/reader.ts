/** One HTTP answer as undici delivers it: read as far as it is of use, then left. Never throws. */
import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';
import { EVENT_STREAM_TYPE, JSON_TYPE, mediaType, SESSION_ID_HEADER } from '../protocol/http.ts';
import { parseReply, type Reply, type RequestId } from '../protocol/messages.ts';
import { SseParser } from '../protocol/sse.ts';
import { failureOf, type Failure } from './failure.ts';

/** Bytes of an answer's body, and characters of one event, that are read at most. */
export const MAX_BODY = 8 * 1024 * 1024;

/** Milliseconds that an answer may stay open after we have read what we want, before its connection is cut. */
const LINGER_MS = 100;

/** How much of the answer is wanted. */
export type Reading =
  /** The message that answers request `id`, from a JSON body or an event stream. */
  | { readonly until: 'reply'; readonly id: RequestId }
  /** The whole body, which may bear a JSON-RPC error. */
  | { readonly until: 'end' }
  /** Status and headers; the connection of a 2xx answer is cut. */
  | { readonly until: 'headers' }
  /** Status and headers first; then a 2xx event stream is read until it ends. */
  | { readonly until: 'closed' };

/** What came back, as far as it was read. Times are performance.now() milliseconds. */
export interface Answer {
  readonly status: number | undefined;
  readonly contentType: string;
  readonly sessionId: string | undefined;
  readonly location: string | undefined;
  /** The message in the body; null where there was none, or it was not wanted. */
  readonly reply: Reply | null;
  readonly failure: Failure | null;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** How an event stream ended. eof: by the server, in order. broken: the connection broke. closed: by us. */
export interface StreamEnd {
  readonly reason: 'eof' | 'broken' | 'closed';
  /** performance.now() milliseconds. */
  readonly at: number;
}

export interface ReaderOptions {
  readonly reading: Reading;
  readonly startedAt: number;
  readonly timeoutMs: number;
  /** A message of the server that answers nothing: a request or a notification. */
  readonly onMessage?: ((message: Reply) => void) | undefined;
  /** The request is being written to its connection, or never will be. */
  readonly onSent?: (() => void) | undefined;
  /** Nothing more will come: the reader can be forgotten. */
  readonly onGone: (reader: AnswerReader) => void;
}

export class AnswerReader implements Dispatcher.DispatchHandler {
  /** Resolves as soon as what was wanted has been read; never rejects. */
  readonly answer: Promise<Answer>;
  /** For an event stream: resolves when it has ended. */
  readonly ended: Promise<StreamEnd>;
  readonly #options: ReaderOptions;
  #resolve!: (answer: Answer) => void;
  #resolveEnd!: (end: StreamEnd) => void;
  #controller: Dispatcher.DispatchController | null = null;
  /** performance.now() at which the sweep cuts us off: the deadline, or the end of lingering. */
  #until: number;
  #settled = false;
  #gone = false;
  #streaming = false;
  #left = false;
  #status: number | undefined;
  #contentType = '';
  #sessionId: string | undefined;
  #location: string | undefined;
  #bytes = 0;
  #chunks: Buffer[] = [];
  #events: SseParser | null = null;
  #decoder: StringDecoder | null = null;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#until = options.startedAt + options.timeoutMs;
    this.answer = new Promise((resolve) => (this.#resolve = resolve));
    this.ended =
      options.reading.until === 'closed' ? new Promise((resolve) => (this.#resolveEnd = resolve)) : NO_STREAM;
  }

  /** The event stream is being read. */
  get streaming(): boolean {
    return this.#streaming && !this.#gone;
  }

  /** Settles as not wanted any more; the connection is left to `leave` or to the sweep. */
  cancel(note: string): void {
    this.#settle(null, { kind: 'cancelled', note });
  }

  /** Ends the exchange now: the connection is cut unless the answer is complete. */
  leave(note = 'given up'): void {
    if (!this.#settled) {
      const sent = this.#controller !== null;
      this.#settle(
        null,
        sent ? { kind: 'broken', note } : { kind: 'unsent', note: `${note}: nothing was sent` },
      );
    }
    this.#left = true;
    this.#until = Infinity;
    this.#controller?.abort(LEFT);
  }

  /** Called now and then by the transport: cuts off what is over its time. */
  sweep(now: number): void {
    if (now < this.#until) return;
    const missing = this.#controller === null ? 'connection' : 'complete answer';
    this.leave(`no ${missing} within ${this.#options.timeoutMs} ms`);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Nothing is written once undici sees the request aborted here.
    if (this.#left) controller.abort(LEFT);
    else this.#options.onSent?.();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#contentType = mediaType(first(headers['content-type']));
    this.#sessionId = first(headers[SESSION_ID_HEADER]);
    this.#location = first(headers['location']);
    this.#begin(status);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled && !this.#streaming) return;
    this.#bytes += chunk.length;
    if (this.#events !== null) this.#readEvents(this.#events, chunk);
    else this.#chunks.push(chunk);
    const held = this.#streaming ? (this.#events?.pending ?? 0) : this.#bytes;
    if (held > MAX_BODY) this.#refuseMore();
  }

  #refuseMore(): void {
    const note = `the answer is longer than ${MAX_BODY / 1024 / 1024} MiB`;
    this.#settle(null, { kind: 'broken', note });
    this.#finish('broken');
    this.leave();
  }

  onResponseEnd(): void {
    // undici gives a connection free one turn of the event loop after its answer has ended. Going on only then
    // lets the next request use it, where it would open another one.
    if (!this.#settled) this.#settle(this.#bodyReply(), null, afterTurn);
    this.#finish('eof');
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#settle(null, failureOf(error, this.#controller !== null));
    this.#finish(this.#left ? 'closed' : 'broken');
  }

  /** Decides from status and headers what to do with the body. */
  #begin(status: number): void {
    const { until } = this.#options.reading;
    const success = status < 300;
    const events = success && this.#contentType === EVENT_STREAM_TYPE;
    if (until === 'reply' && events) this.#listen();
    else if (until === 'closed' && events) {
      this.#listen();
      this.#streaming = true;
      this.#until = Infinity;
      this.#settle(null, null);
    } else if (success && (until === 'headers' || until === 'closed')) {
      this.#settle(null, null);
      this.leave();
    } else if (!this.#mayBearReply()) this.#settle(null, null);
  }

  #listen(): void {
    this.#events = new SseParser();
    this.#decoder = new StringDecoder('utf8');
  }

  #mayBearReply(): boolean {
    return this.#contentType === JSON_TYPE || this.#contentType === '';
  }

  #readEvents(events: SseParser, chunk: Buffer): void {
    for (const event of events.push(this.#decoder?.write(chunk) ?? '')) {
      // An empty event only gives an id to resume from.
      if (event.type !== 'message' || event.data === '') continue;
      const message = parseReply(event.data);
      if (this.#isAnswer(message)) {
        this.#settle(message, null);
        return;
      }
      this.#options.onMessage?.(message);
    }
  }

  #isAnswer(message: Reply): boolean {
    const { reading } = this.#options;
    if (reading.until !== 'reply') return false;
    if (message.kind === 'error') return message.id === null || message.id === reading.id;
    return message.kind === 'result' && message.id === reading.id;
  }

  #bodyReply(): Reply | null {
    if (this.#bytes === 0 || this.#events !== null) return null;
    const [only] = this.#chunks;
    const body = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks);
    return parseReply(body.toString('utf8'));
  }

  #settle(reply: Reply | null, failure: Failure | null, when = atOnce): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#chunks = [];
    const endedAt = performance.now();
    if (!this.#streaming) this.#until = endedAt + LINGER_MS;
    const answer: Answer = {
      status: this.#status,
      contentType: this.#contentType,
      sessionId: this.#sessionId,
      location: this.#location,
      reply,
      failure,
      startedAt: this.#options.startedAt,
      endedAt,
    };
    when(() => this.#resolve(answer));
  }

  #finish(reason: StreamEnd['reason']): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#options.onSent?.();
    if (this.#options.reading.until === 'closed') this.#resolveEnd({ reason, at: performance.now() });
    this.#options.onGone(this);
  }
}

const LEFT = new Error('left by the client');

const NO_STREAM = Promise.resolve<StreamEnd>({ reason: 'closed', at: 0 });

function atOnce(go: () => void): void {
  go();
}

function afterTurn(go: () => void): void {
  queueMicrotask(() => setImmediate(go));
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
