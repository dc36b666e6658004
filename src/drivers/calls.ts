/**
 * Calls on sessions that are open already, by autocannon: a fixed amount, one session a connection. Every response
 * time is kept as it is given: autocannon's own histogram knows whole milliseconds, and it ends at its next tick.
 */
import autocannon from 'autocannon';
import { MAX_BODY } from '../client/reader.ts';
import type { HttpTransport } from '../client/http.ts';
import type { McpSession } from '../client/session.ts';
import type { ToolChoice } from '../client/types.ts';
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../protocol/http.ts';
import { ping, toolCall } from '../protocol/messages.ts';
import { fill } from '../protocol/tools.ts';

export interface CallsOptions {
  readonly transport: HttpTransport;
  /** One connection each. */
  readonly sessions: readonly McpSession[];
  readonly tools: ToolChoice;
  /** Calls of all connections together; at least one each. */
  readonly amount: number;
  /** What is not answered by then is left. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** What came of a slice of calls. */
export interface CallSlice {
  /** Answered calls. */
  readonly calls: number;
  /** Of these, answers that bear no result, and calls that got no answer. */
  readonly failed: number;
  /** From the first connection's start to the last answer. */
  readonly ms: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Share of the time that this side computed, or waited for a processor to do so. */
  readonly loadCpu: number;
}

/** A slice, and whether it was given up because an answer was longer than what is ever read. */
export interface CallsResult {
  readonly slice: CallSlice;
  readonly tooLong: boolean;
}

/** Further JSON-RPC ids are taken in turn: a server may still be tidying up behind the last one. */
const IDS = 16;
/** Ids that do not meet those of the session's opening. */
const FIRST_ID = 1000;
/** About as long as a plan's text. */
const TEXT = 'thirty-two characters of content';
/** A server that does not take connections would be asked again without a pause. */
const MOST_ERRORS = 20;
const TICK_MS = 20;

/** Never rejects for what the server does: a server that answers nothing gives 0 calls. */
export function playCalls(options: CallsOptions): Promise<CallsResult> {
  const { transport, sessions, amount, limitMs, signal } = options;
  const tally = new Tally(amount);
  return new Promise((resolve, reject) => {
    let connection = 0;
    const instance = autocannon(
      {
        url: transport.endpoint.url,
        method: 'POST',
        connections: sessions.length,
        amount: Math.max(amount, sessions.length),
        timeout: Math.ceil(limitMs / 1000) + 1,
        sampleInt: TICK_MS,
        setupClient: (client) => {
          const session = sessions[connection++ % sessions.length];
          if (session) client.setRequests(requestsOf(options, session));
          // autocannon keeps an answer whole until its end, which may never come.
          watchLength(client, () => {
            tally.tooLong = true;
            stop();
          });
        },
        verifyBody: (body) => tally.verify(String(body)),
      },
      (error) => {
        clearTimeout(limit);
        signal.removeEventListener('abort', stop);
        if (error) reject(error as Error);
        else resolve({ slice: tally.slice(), tooLong: tally.tooLong });
      },
    );
    const stop = (): void => instance.stop();
    const limit = setTimeout(stop, limitMs);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    instance.on('response', (client, _status, _bytes, ms) => tally.answer(client, ms));
    instance.on('reqError', () => {
      if (++tally.errors >= MOST_ERRORS) stop();
    });
  });
}

/** Calls back once, when an answer is longer than what is ever read. */
function watchLength(client: autocannon.Client, onTooLong: () => void): void {
  let held = 0;
  let last: Buffer | null = null;
  client.on('response', () => (held = 0));
  // Given for each part of a body: the bytes that arrived together with it, which may hold many parts.
  client.on('body', (bytes: Buffer) => {
    if (bytes === last) return;
    last = bytes;
    const before = held;
    held += bytes.length;
    if (before <= MAX_BODY && held > MAX_BODY) onTooLong();
  });
}

function requestsOf({ transport, tools }: CallsOptions, session: McpSession): autocannon.Request[] {
  const headers: Record<string, string> = { [PROTOCOL_VERSION_HEADER]: session.version };
  if (session.id !== null) headers[SESSION_ID_HEADER] = session.id.reveal();
  const { postHeaders } = transport;
  for (let i = 0; i + 1 < postHeaders.length; i += 2)
    headers[postHeaders[i] ?? ''] = postHeaders[i + 1] ?? '';
  const { name, arguments: args } = tools.call;
  return Array.from({ length: IDS }, (_, i) => {
    const id = FIRST_ID + i;
    const message = session.offersTools ? toolCall(id, name, fill(args, { text: TEXT })) : ping(id);
    return { method: 'POST', headers: { ...headers }, body: JSON.stringify(message) };
  });
}

class Tally {
  errors = 0;
  tooLong = false;
  readonly #amount: number;
  readonly #times: number[] = [];
  /** The first answer on a connection took the time of connecting, too. */
  readonly #firstTimes: number[] = [];
  readonly #connected = new Set<unknown>();
  readonly #startedAt = performance.now();
  readonly #before = performance.eventLoopUtilization();
  #endedAt = 0;
  #busy: number | null = null;
  #good = 0;

  constructor(amount: number) {
    this.#amount = amount;
  }

  answer(client: unknown, ms: number): void {
    if (this.#connected.has(client)) this.#times.push(ms);
    else {
      this.#connected.add(client);
      this.#firstTimes.push(ms);
    }
    this.#endedAt = performance.now();
    if (this.#answered === this.#amount) this.#busy = this.#busyShare();
  }

  /** A look at the text instead of a parse, for every answer: the load side must stay quicker than the server. */
  verify(body: string): boolean {
    const good = /"result"\s*:/.test(body) && !/"isError"\s*:\s*true/.test(body);
    if (good) this.#good++;
    return good;
  }

  slice(): CallSlice {
    const calls = this.#answered;
    const ms = (calls > 0 ? this.#endedAt : performance.now()) - this.#startedAt;
    const sorted = (this.#times.length > 0 ? this.#times : this.#firstTimes).sort((a, b) => a - b);
    return {
      calls,
      failed: calls - this.#good + this.errors,
      ms: round(ms),
      p50Ms: round(quantile(sorted, 0.5)),
      p99Ms: round(quantile(sorted, 0.99)),
      loadCpu: round(this.#busy ?? this.#busyShare()),
    };
  }

  /** Not its CPU time: on a busy machine the load side may be late without having computed much. */
  #busyShare(): number {
    return performance.eventLoopUtilization(this.#before).utilization;
  }

  get #answered(): number {
    return this.#times.length + this.#firstTimes.length;
  }
}

const round = (value: number): number => Math.round(value * 10_000) / 10_000;

/** The value that a share of the sorted ones do not exceed; 0 where there is none. */
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
