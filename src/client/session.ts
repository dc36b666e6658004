/** One MCP session over HTTP, from open to close. Every method reports facts; none throws or rejects. */
import { initialized, ping, toolCall } from '../protocol/messages.ts';
import { SessionChannel } from './channel.ts';
import type { HttpTransport } from './http.ts';
import type { SessionId } from './id.ts';
import { INITIALIZE_ID, openSession, type Agreement, type OpenOptions } from './opening.ts';
import { localExchange } from './outcome.ts';
import type { StreamEnd } from './reader.ts';
import type { Exchange } from './types.ts';

/** What came of an opening: a session, or none. */
export interface Opening {
  readonly exchange: Exchange;
  readonly session: McpSession | null;
  /**
   * An id that came without a usable session: the server may hold an entry for it. With a status of 400 and
   * above it is the id that a refusal echoed.
   */
  readonly stray: SessionId | null;
}

export interface CallOptions {
  /** Milliseconds until the answer must be complete; default: the endpoint's. */
  readonly timeoutMs?: number | undefined;
}

/** deliberate: by us. unexpected: the server answered 404 to a session that we had not ended. */
export type SessionEnd = 'deliberate' | 'unexpected';

const OVER = 'the session is over: nothing was sent';

export class McpSession {
  /** null where the server keeps no sessions. */
  readonly id: SessionId | null;
  /** The revision that was negotiated. */
  readonly version: string;
  readonly offersTools: boolean;
  readonly #options: OpenOptions;
  readonly #channel: SessionChannel;
  #nextId = INITIALIZE_ID + 1;
  #ready = false;
  /** We send nothing more, for now or for good. */
  #stopped = false;
  #deleteSent = false;
  /** DELETE has ended it, or may have: it cannot be resumed. */
  #over = false;
  #ended: SessionEnd | null = null;

  private constructor(transport: HttpTransport, agreement: Agreement, options: OpenOptions) {
    this.id = agreement.id;
    this.version = agreement.version;
    this.offersTools = agreement.tools;
    this.#options = options;
    this.#channel = new SessionChannel(transport, this.id, this.version);
  }

  /** Initializes and settles on a revision; a session in a revision that we cannot speak is ended at once. */
  static async open(transport: HttpTransport, options: OpenOptions = {}): Promise<Opening> {
    const { exchange, agreement, stray } = await openSession(transport, options);
    const session = agreement === null ? null : new McpSession(transport, agreement, options);
    return { exchange, session, stray };
  }

  /** How the session ended; null while it has not. */
  get ended(): SessionEnd | null {
    return this.#ended;
  }

  /** An event stream opened by `openStream` is open. */
  get streamOpen(): boolean {
    return this.#channel.streamOpen;
  }

  /** Resolves when the stream opened last has ended; null before there was one. Never rejects. */
  get streamEnded(): Promise<StreamEnd> | null {
    return this.#channel.streamEnded;
  }

  async initialized(): Promise<Exchange> {
    if (this.#stopped) return localExchange(OVER);
    const exchange = await this.#channel.notify(initialized());
    if (exchange.outcome !== 'local') this.#ready = true;
    return this.#noticed(exchange);
  }

  async ping(options: CallOptions = {}): Promise<Exchange> {
    if (this.#stopped) return localExchange(OVER);
    return this.#noticed(await this.#channel.ask(ping(this.#nextId++), options.timeoutMs));
  }

  /** Calls a tool; where the server offers none, pings instead and says so. */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions = {},
  ): Promise<Exchange> {
    if (this.#stopped) return localExchange(OVER);
    if (!this.#ready) return localExchange('only ping may come before notifications/initialized');
    if (this.offersTools) {
      const request = toolCall(this.#nextId++, name, args);
      return this.#noticed(await this.#channel.ask(request, options.timeoutMs));
    }
    return { note: 'the server offers no tools: pinged instead', ...(await this.ping(options)) };
  }

  /** Opens the event stream: resolves once its headers have arrived. It is then read until it ends. */
  async openStream(options: CallOptions = {}): Promise<Exchange> {
    if (this.#stopped) return localExchange(OVER);
    return this.#noticed(await this.#channel.openStream(options.timeoutMs));
  }

  /**
   * Sends DELETE, once in the life of a session whatever comes of it. 404 is success: it is gone. 405 is the
   * server's right to decline: the session lives on. Streams are left to the server; `drop` closes them.
   */
  async delete(): Promise<Exchange> {
    if (this.#stopped) return localExchange(OVER);
    this.#stopped = true;
    const exchange = await this.#delete();
    if (this.#over) this.#ended ??= 'deliberate';
    else this.#stopped = false;
    return exchange;
  }

  /**
   * Ends the client's side only: gives up what is in flight, closes the streams, sends nothing. To end such a
   * session on the server later, `resume` it first.
   */
  async drop(): Promise<Exchange> {
    const exchange = localExchange();
    this.#stopped = true;
    this.#ended ??= 'deliberate';
    this.#channel.settlePending('given up: the session was dropped');
    await this.#channel.leave();
    return { ...exchange, endedAt: performance.now() };
  }

  /**
   * Ends the session in order: send nothing new, cancel what is in flight, settle it, DELETE, close the streams.
   * Reports the DELETE.
   */
  async close(): Promise<Exchange> {
    const stopped = this.#stopped;
    this.#stopped = true;
    if (!stopped) await this.#channel.sendCancellations('the session is being closed');
    this.#channel.settlePending('cancelled: the session was closed');
    const exchange = stopped ? localExchange(OVER) : await this.#delete();
    this.#ended ??= 'deliberate';
    await this.#channel.leave();
    return exchange;
  }

  /** Goes on with a session that was dropped or held, from now on over `transport`. A deleted one stays over. */
  resume(transport: HttpTransport): void {
    this.#channel.use(transport);
    if (this.#over || this.#ended !== 'deliberate') return;
    this.#stopped = false;
    this.#ended = null;
  }

  /** Opens a new session in place of one that the server ended, and only then. */
  reopen(): Promise<Opening> {
    if (this.#ended === 'unexpected') return McpSession.open(this.#channel.transport, this.#options);
    const exchange = localExchange('only a session that ended unexpectedly is opened anew');
    return Promise.resolve({ exchange, session: null, stray: null });
  }

  async #delete(): Promise<Exchange> {
    if (this.id === null) {
      this.#over = true;
      return localExchange('the server gave no session id: there is nothing to delete');
    }
    if (this.#deleteSent) return localExchange('DELETE was sent before and is never repeated');
    const exchange = await this.#channel.delete();
    // What was proved unsent may be tried again; after a broken connection the session may have ended.
    this.#deleteSent = exchange.outcome !== 'local';
    this.#over = exchange.status === 404 || exchange.outcome === 'ok' || exchange.outcome === 'broken';
    return exchange.status === 404 ? { ...exchange, outcome: 'ok' } : exchange;
  }

  /** A 404 that we did not bring about means that the server has ended the session. */
  #noticed(exchange: Exchange): Exchange {
    if (exchange.status === 404 && this.id !== null && !this.#stopped) this.#ended ??= 'unexpected';
    return exchange;
  }
}
