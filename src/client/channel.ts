/** The requests of one session: its headers, what is in flight, its streams. */
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../protocol/http.ts';
import { answerTo, cancelled, type Reply, type RequestId } from '../protocol/messages.ts';
import type { JsonRpcNotification, JsonRpcRequest } from '../protocol/messages.ts';
import type { HeaderList, HttpTransport } from './http.ts';
import type { SessionId } from './id.ts';
import { exchangeOf } from './outcome.ts';
import type { AnswerReader, Reading, StreamEnd } from './reader.ts';
import type { Exchange } from './types.ts';

/** Requests of the server that are being answered at a time; more are left unanswered. */
const MAX_ANSWERING = 4;

const WHOLE: Reading = { until: 'end' };

export class SessionChannel {
  /** Resolves when the stream opened last has ended; null before there was one. */
  streamEnded: Promise<StreamEnd> | null = null;
  /** The headers of this session alone. */
  readonly #own: HeaderList;
  #transport!: HttpTransport;
  #postHeaders!: HeaderList;
  #answering = 0;
  /** What has not been answered, with the id that a cancellation names. */
  readonly #inFlight = new Map<AnswerReader, RequestId | null>();
  /** Settled without an answer; their connections are still open. */
  #cancelled: AnswerReader[] = [];
  readonly #streams = new Set<AnswerReader>();

  constructor(transport: HttpTransport, id: SessionId | null, version: string) {
    this.#own = [PROTOCOL_VERSION_HEADER, version];
    if (id !== null) this.#own.push(SESSION_ID_HEADER, id.reveal());
    this.use(transport);
  }

  get transport(): HttpTransport {
    return this.#transport;
  }

  get streamOpen(): boolean {
    return this.#streams.size > 0;
  }

  /** Sends what follows over this transport; streams that are open stay where they are. */
  use(transport: HttpTransport): void {
    this.#transport = transport;
    this.#postHeaders = [...transport.postHeaders, ...this.#own];
  }

  async ask(request: JsonRpcRequest, timeoutMs: number | undefined): Promise<Exchange> {
    const reader = this.#transport.start('POST', this.#postHeaders, JSON.stringify(request), {
      reading: { until: 'reply', id: request.id },
      onMessage: this.#onMessage,
      timeoutMs,
    });
    return exchangeOf(await this.#settled(reader, request.id), 'reply', this.#transport.url);
  }

  async notify(notification: JsonRpcNotification): Promise<Exchange> {
    const body = JSON.stringify(notification);
    const reader = this.#transport.start('POST', this.#postHeaders, body, { reading: WHOLE });
    return exchangeOf(await this.#settled(reader, null), 'accepted', this.#transport.url);
  }

  async openStream(timeoutMs: number | undefined): Promise<Exchange> {
    const headers = [...this.#transport.streamHeaders, ...this.#own];
    const reader = this.#transport.start('GET', headers, null, {
      reading: { until: 'closed' },
      onMessage: this.#onMessage,
      timeoutMs,
    });
    const exchange = exchangeOf(await this.#settled(reader, null), 'stream', this.#transport.url);
    if (exchange.outcome !== 'ok') return exchange;
    this.streamEnded = reader.ended;
    if (reader.streaming) {
      this.#streams.add(reader);
      void reader.ended.then(() => this.#streams.delete(reader));
    }
    return exchange;
  }

  async delete(): Promise<Exchange> {
    const headers = [...this.#transport.deleteHeaders, ...this.#own];
    const answer = await this.#transport.request('DELETE', headers, null, { reading: WHOLE });
    return exchangeOf(answer, 'accepted', this.#transport.url);
  }

  /**
   * Tells the server to cancel what is in flight. Resolves once that has been handed to connections; the answers
   * are not waited for.
   */
  async sendCancellations(reason: string): Promise<void> {
    const ids = [...this.#inFlight.values()].filter((id) => id !== null);
    await Promise.all(ids.map((id) => this.#sent(JSON.stringify(cancelled(id, reason)))));
  }

  /** Settles what is in flight; its connections stay open until `leave`. */
  settlePending(note: string): void {
    this.#cancelled.push(...this.#inFlight.keys());
    for (const reader of this.#inFlight.keys()) reader.cancel(note);
    this.#inFlight.clear();
  }

  /** Cuts the connections of what was settled and of the streams; resolves once the streams have ended. */
  async leave(): Promise<void> {
    for (const reader of this.#cancelled) reader.leave();
    this.#cancelled = [];
    const streams = [...this.#streams];
    for (const stream of streams) stream.leave();
    await Promise.all(streams.map((stream) => stream.ended));
  }

  async #settled(reader: AnswerReader, id: RequestId | null) {
    this.#inFlight.set(reader, id);
    const answer = await reader.answer;
    this.#inFlight.delete(reader);
    return answer;
  }

  #sent(body: string): Promise<void> {
    return new Promise((resolve) => {
      this.#transport.start('POST', this.#postHeaders, body, { reading: WHOLE, onSent: resolve });
    });
  }

  /** A server may ping its client; whoever does not answer may be taken for dead. */
  readonly #onMessage = (message: Reply): void => {
    if (message.kind !== 'request' || this.#answering >= MAX_ANSWERING) return;
    this.#answering += 1;
    const body = JSON.stringify(answerTo(message));
    const answered = this.#transport.request('POST', this.#postHeaders, body, { reading: WHOLE });
    void answered.then(() => (this.#answering -= 1));
  };
}
