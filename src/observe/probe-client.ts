/** One request to one probe: bounded in time and size, over a connection that stays open between samples. */
import { Client, errors } from 'undici';

/** A probe's answer is a few KiB; what is larger is no answer of a probe. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const IDLE_CONNECTION_MS = 60_000;

/** Where a probe listens: a Unix socket's path, or `host:port` on loopback. */
export type ProbePlace =
  { readonly kind: 'socket'; readonly path: string } | { readonly kind: 'address'; readonly address: string };

/**
 * wrong: the answer is not what the contract says. late: there was none in time. absent: nothing of the worker is
 * to be found there, so that it may be the leftover of a process that has ended.
 */
export type ProbeFailure = 'wrong' | 'late' | 'absent';

/** A probe did not give what was asked: one sentence. */
export class ProbeError extends Error {
  override name = 'ProbeError';
  readonly failure: ProbeFailure;

  constructor(message: string, failure: ProbeFailure = 'wrong') {
    super(message);
    this.failure = failure;
  }
}

const ABSENT = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK', 'EPROTOTYPE']);
/** Ours to mend, whichever worker was to be asked. */
export const NO_DESCRIPTORS =
  'This process has no file descriptors left to ask probes with: raise its limit (ulimit -n, LimitNOFILE).';
const EXHAUSTED = new Set(['EMFILE', 'ENFILE']);
const LOST = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Nobody will ever answer at that file: to listen anew is to make a new one. */
export const isAbsent = (error: unknown): boolean => ABSENT.has(codeOf(error));

export const isExhausted = (error: unknown): boolean => EXHAUSTED.has(codeOf(error));

export class ProbeClient {
  readonly #client: Client;
  #answered = false;

  constructor(place: ProbePlace) {
    this.#client = connect(place);
  }

  /**
   * GETs a path and parses the answer as JSON.
   * @throws ProbeError after at most timeoutMs
   */
  async get(path: string, timeoutMs: number): Promise<unknown> {
    const deadline = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    // The race covers what undici's signal does not: a connection that is never accepted.
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new ProbeError(`The probe gave no answer within ${timeoutMs} ms.`, 'late'));
        deadline.abort();
      }, timeoutMs);
    });
    try {
      return await Promise.race([this.#attempts(path, deadline.signal), late]);
    } catch (error) {
      if (error instanceof ProbeError) throw error;
      throw new ProbeError(sentence(error), isAbsent(error) ? 'absent' : 'wrong');
    } finally {
      clearTimeout(timer);
    }
  }

  /** Gives up the connection and what is in flight on it. */
  async close(): Promise<void> {
    await this.#client.destroy();
  }

  /** A kept connection that the probe closed in the same moment is worth one more try on a fresh one. */
  async #attempts(path: string, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#request(path, signal);
    } catch (error) {
      if (!this.#answered || signal.aborted || !LOST.has(codeOf(error))) throw error;
      return this.#request(path, signal);
    }
  }

  async #request(path: string, signal: AbortSignal): Promise<unknown> {
    const { statusCode, body } = await this.#client.request({ method: 'GET', path, signal });
    // Destroying a body that is not read to its end raises an error on it that nobody else would hear.
    body.on('error', () => undefined);
    if (statusCode !== 200) {
      body.destroy();
      throw new ProbeError(`The probe answered HTTP ${statusCode} to ${path}.`);
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES)
        throw new ProbeError(`The probe's answer is larger than ${MAX_ANSWER_BYTES} bytes.`);
      chunks.push(chunk);
    }
    this.#answered = true;
    return parse(Buffer.concat(chunks));
  }
}

function connect(place: ProbePlace): Client {
  const options = {
    keepAliveTimeout: IDLE_CONNECTION_MS,
    pipelining: 1,
    // The caller's deadline rules.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  return place.kind === 'socket'
    ? new Client('http://probe', { ...options, socketPath: place.path })
    : new Client(`http://${place.address}`, options);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new ProbeError("The probe's answer is not JSON.");
  }
}

function sentence(error: unknown): string {
  const code = codeOf(error);
  if (isAbsent(error))
    return 'Nothing listens at the probe any more, although a process of its number lives: the server has closed it, or ended in another container.';
  if (EXHAUSTED.has(code)) return NO_DESCRIPTORS;
  if (LOST.has(code)) return 'The probe closed the connection before its answer was complete.';
  if (code === 'UND_ERR_DESTROYED') return "The probe's connection was given up before its answer.";
  if (code === 'EACCES') return "The probe's socket belongs to another user: it cannot be opened.";
  if (error instanceof errors.HTTPParserError) return "The probe's answer is not HTTP.";
  return `The probe could not be asked${code === '' ? '' : ` (${code})`}.`;
}
