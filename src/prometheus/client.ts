/**
 * Prometheus' HTTP API as far as a verdict needs it: instant and range queries, each with a deadline and a bound on
 * the size of its answer. Reading puts no load on a target, so any host may be named.
 */
import { request } from 'undici';
import { z } from 'zod';
import { publicUrl, redact } from '../targets/secrets.ts';
import { UsageError } from '../targets/target.ts';
import type { Series } from './series.ts';

/** Prometheus could not be read, or does not have what was asked for: one sentence. Exit code 3. */
export class PrometheusError extends Error {
  override name = 'PrometheusError';
}

const DEADLINE_MS = 60_000;
const MOST_BYTES = 128 * 1024 ** 2;
/** More points than this are refused by Prometheus itself. */
const MOST_STEPS = 11_000;

/** Statuses with an answer of Prometheus' own, which says what is wrong. */
const HAVE_BODY: readonly number[] = [400, 422, 503];
const BELOW = 'give the address that /api/v1/query is below of.';

const answerSchema = z.object({
  status: z.string(),
  error: z.string().optional(),
  data: z.object({ resultType: z.string(), result: z.array(z.unknown()) }).optional(),
});
const pairSchema = z.tuple([z.number(), z.string()]);
const resultSchema = z.object({
  metric: z.record(z.string(), z.string()),
  values: z.array(pairSchema).optional(),
  value: pairSchema.optional(),
});

export interface PrometheusOptions {
  /** `http(s)://[user:password@]host[:port][/prefix]`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** For each query; a minute, where it is not given. */
  readonly deadlineMs?: number;
}

export class PrometheusClient {
  /** Without what may be a secret. */
  readonly shown: string;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal;
  readonly #deadlineMs: number;

  /** @throws UsageError where the address is none */
  constructor({ url, headers, signal, deadlineMs = DEADLINE_MS }: PrometheusOptions) {
    const parsed = addressOf(url);
    const { username, password } = parsed;
    const pair = `${decoded(username)}:${decoded(password)}`;
    const basic =
      username === '' && password === ''
        ? {}
        : { authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` };
    this.#base = parsed.origin + parsed.pathname.replace(/\/+$/, '');
    this.shown = publicUrl(this.#base);
    this.#headers = { ...basic, ...headers };
    this.#signal = signal;
    this.#deadlineMs = deadlineMs;
  }

  /** The raw samples of a selector within `seconds` before `to`: those that were scraped, at their own times. */
  raw(selector: string, to: number, seconds: number): Promise<Series[]> {
    const window = String(Math.max(1, Math.ceil(seconds)));
    return this.#series('query', { query: `${selector}[${window}s]`, time: to.toFixed(3) });
  }

  /** The value of an expression at one time, as series of one sample each. */
  instant(expression: string, at: number): Promise<Series[]> {
    return this.#series('query', { query: expression, time: at.toFixed(3) });
  }

  /**
   * An expression evaluated so often that Prometheus takes it, each time for a step that ends then: the first one at
   * `from` or less than a step before, the last one at `to`.
   */
  range(expression: (step: string) => string, from: number, to: number): Promise<Series[]> {
    const seconds = stepOf(from, to);
    const start = to - (Math.ceil((to - from) / seconds) - 1) * seconds;
    const step = `${String(seconds)}s`;
    const times = { start: start.toFixed(3), end: to.toFixed(3), step };
    return this.#series('query_range', { query: expression(step), ...times });
  }

  async #series(path: string, parameters: Readonly<Record<string, string>>): Promise<Series[]> {
    const answer = answerSchema.safeParse(await this.#get(path, parameters));
    if (!answer.success) throw new PrometheusError(`${this.shown} does not answer as Prometheus does.`);
    const { status, error, data } = answer.data;
    if (status !== 'success' || data === undefined)
      throw new PrometheusError(`${this.shown} refuses the query: ${redact(error ?? status)}.`);
    const results = z.array(resultSchema).safeParse(data.result);
    if (!results.success) throw new PrometheusError(`${this.shown} does not answer as Prometheus does.`);
    return results.data.map(seriesOf);
  }

  async #get(path: string, parameters: Readonly<Record<string, string>>): Promise<unknown> {
    const query = new URLSearchParams({ ...parameters, timeout: `${String(this.#deadlineMs / 1000)}s` });
    const late = new PrometheusError(
      `Prometheus at ${this.shown} cannot be read: no answer within ${this.#deadlineMs / 1000} s.`,
    );
    // Not AbortSignal.timeout: what only AbortSignal.any refers to may be collected before it fires.
    const ended = new AbortController();
    const stop = (): void => ended.abort();
    const timer = setTimeout(() => ended.abort(late), this.#deadlineMs);
    this.#signal.addEventListener('abort', stop, { once: true });
    if (this.#signal.aborted) stop();
    try {
      const { statusCode, body } = await request(`${this.#base}/api/v1/${path}?${query.toString()}`, {
        headers: this.#headers,
        signal: ended.signal,
      });
      const text = await bounded(body, this.shown);
      this.#refuse(statusCode);
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw this.#sentence(ended.signal.reason === late ? late : error);
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener('abort', stop);
    }
  }

  /** @throws PrometheusError for answers that have no body of Prometheus' own */
  #refuse(status: number): void {
    if (status === 401 || status === 403)
      throw new PrometheusError(
        `${this.shown} asks for credentials (HTTP ${status}): give them by --header "Authorization: …", or as user:password@ in the address.`,
      );
    if (status < 300 || HAVE_BODY.includes(status)) return;
    const mend = status >= 500 ? 'is Prometheus well, and what is before it?' : BELOW;
    throw new PrometheusError(`${this.shown} answers HTTP ${status}: ${mend}`);
  }

  #sentence(error: unknown): Error {
    if (error instanceof PrometheusError) return error;
    if (this.#signal.aborted) return new PrometheusError('interrupted while Prometheus was being read.');
    if (error instanceof SyntaxError)
      return new PrometheusError(`${this.shown} does not answer as Prometheus does.`);
    return new PrometheusError(`Prometheus at ${this.shown} cannot be read: ${reasonOf(error)}.`);
  }
}

/** Seconds between two evaluations of a range query: whole, and not too many of them. */
export const stepOf = (from: number, to: number): number =>
  Math.max(1, Math.ceil((to - from) / (MOST_STEPS - 1)));

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError('--from-prometheus: give an address such as http://127.0.0.1:9090.');
  if (url.search !== '' || url.hash !== '')
    throw new UsageError('--from-prometheus: give the address without ? and #.');
  return url;
}

/** @throws UsageError */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new UsageError(
      '--from-prometheus: user and password have a % that is no escape: write it as %25, or give them by --header.',
    );
  }
}

const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, message } = cause as { code?: unknown; message?: unknown };
  return redact(typeof code === 'string' ? code : String(message));
};

async function bounded(body: AsyncIterable<Uint8Array>, shown: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > MOST_BYTES)
      throw new PrometheusError(
        `${shown} answers with more than ${MOST_BYTES / 1024 ** 2} MiB: narrow it with --target, --selector, or --from and --to.`,
      );
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function seriesOf({ metric, values, value }: z.infer<typeof resultSchema>): Series {
  const pairs = values ?? (value === undefined ? [] : [value]);
  const times: number[] = [];
  const numbers: number[] = [];
  for (const [time, text] of pairs) {
    const number = Number(text);
    if (!Number.isFinite(number)) continue;
    times.push(time);
    numbers.push(number);
  }
  return { labels: metric, times, values: numbers };
}
