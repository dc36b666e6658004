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

const answerSchema = z.object({
  status: z.string(),
  error: z.string().optional(),
  data: z.object({ resultType: z.string(), result: z.array(z.unknown()) }).optional(),
});
const labelsSchema = z.record(z.string(), z.string());
type Pairs = readonly (readonly [number, string])[];

export interface PrometheusOptions {
  /** `http(s)://[user:password@]host[:port][/prefix]`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export class PrometheusClient {
  /** Without what may be a secret. */
  readonly shown: string;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal;

  /** @throws UsageError where the address is none */
  constructor({ url, headers, signal }: PrometheusOptions) {
    const parsed = addressOf(url);
    const { username, password } = parsed;
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const basic = username === '' && password === '' ? {} : { authorization: `Basic ${btoa(pair)}` };
    this.#base = parsed.origin + parsed.pathname.replace(/\/+$/, '');
    this.shown = publicUrl(this.#base);
    this.#headers = { ...basic, ...headers };
    this.#signal = signal;
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

  /** An expression evaluated from `from` to `to`, so often that Prometheus takes it. */
  range(expression: (step: string) => string, from: number, to: number): Promise<Series[]> {
    const step = `${String(stepOf(from, to))}s`;
    const times = { start: from.toFixed(3), end: to.toFixed(3), step };
    return this.#series('query_range', { query: expression(step), ...times });
  }

  async #series(path: string, parameters: Readonly<Record<string, string>>): Promise<Series[]> {
    const answer = answerSchema.safeParse(await this.#get(path, parameters));
    if (!answer.success) throw new PrometheusError(`${this.shown} does not answer as Prometheus does.`);
    const { status, error, data } = answer.data;
    if (status !== 'success' || data === undefined)
      throw new PrometheusError(`${this.shown} refuses the query: ${redact(error ?? status)}.`);
    return data.result.map(seriesOf);
  }

  async #get(path: string, parameters: Readonly<Record<string, string>>): Promise<unknown> {
    const query = new URLSearchParams({ ...parameters, timeout: `${String(DEADLINE_MS / 1000)}s` });
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(DEADLINE_MS)]);
    try {
      const { statusCode, body } = await request(`${this.#base}/api/v1/${path}?${query.toString()}`, {
        headers: this.#headers,
        signal,
      });
      const text = await bounded(body, this.shown);
      this.#refuse(statusCode);
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw this.#sentence(error);
    }
  }

  /** @throws PrometheusError for answers that have no body of Prometheus' own */
  #refuse(status: number): void {
    if (status === 401 || status === 403)
      throw new PrometheusError(
        `${this.shown} asks for credentials (HTTP ${status}): give them by --header "Authorization: …", or as user:password@ in the address.`,
      );
    if (status >= 300 && status !== 400 && status !== 422 && status !== 503)
      throw new PrometheusError(
        `${this.shown} answers HTTP ${status}: give the address that /api/v1/query is below of.`,
      );
  }

  #sentence(error: unknown): Error {
    if (error instanceof PrometheusError) return error;
    if (this.#signal.aborted) return new PrometheusError('interrupted while Prometheus was being read.');
    if (error instanceof SyntaxError)
      return new PrometheusError(`${this.shown} does not answer as Prometheus does.`);
    const late = error instanceof Error && error.name === 'TimeoutError';
    const why = late ? `no answer within ${DEADLINE_MS / 1000} s` : reasonOf(error);
    return new PrometheusError(`Prometheus at ${this.shown} cannot be read: ${why}.`);
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

function seriesOf(result: unknown): Series {
  const { metric, values, value } = result as { metric?: unknown; values?: Pairs; value?: Pairs[number] };
  const pairs = values ?? (value === undefined ? [] : [value]);
  const times: number[] = [];
  const numbers: number[] = [];
  for (const [time, text] of pairs) {
    const number = Number(text);
    if (!Number.isFinite(number)) continue;
    times.push(time);
    numbers.push(number);
  }
  return { labels: labelsSchema.parse(metric), times, values: numbers };
}
