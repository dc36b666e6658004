/**
 * Stand-in for the module `k6/http`, as k6 was seen to behave: names of headers in Go's form, an answer only when its
 * body has ended, and of one that was cut no status and no headers, but the text that had arrived.
 */
import { request as send, type IncomingMessage } from 'node:http';

export interface Params {
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeout?: number;
}

export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly error_code: number;
  readonly timings: { readonly receiving: number };
}

const TIMEOUT = 1050;
const OTHER = 1000;
const REFUSED = 1212;
const DEFAULT_TIMEOUT_MS = 60_000;

/** There are no cookies here. */
export class CookieJar {
  readonly cookies = [];
}

const canonical = (name: string): string =>
  name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase());

function asyncRequest(
  method: string,
  url: string,
  body: string | null = null,
  params: Params = {},
): Promise<Response> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let answer: IncomingMessage | null = null;
    const text = (): string | null => (answer === null ? null : Buffer.concat(chunks).toString('utf8'));
    const receiving = (): number => (answer === null ? 0 : 1);
    const cut = (code: number): void => {
      clearTimeout(timer);
      resolve({
        status: 0,
        headers: {},
        body: text(),
        error_code: code,
        timings: { receiving: receiving() },
      });
      request.destroy();
    };
    const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const request = send(
      url,
      { method, headers: { ...length, ...params.headers }, agent: false },
      (response) => {
        answer = response;
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => cut(OTHER));
        response.on('end', () => {
          clearTimeout(timer);
          const headers = Object.entries(response.headers).map(([name, value]) => [
            canonical(name),
            String(value),
          ]);
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(headers) as Record<string, string>,
            body: text(),
            error_code: 0,
            timings: { receiving: 1 },
          });
        });
      },
    );
    const timer = setTimeout(() => cut(TIMEOUT), params.timeout ?? DEFAULT_TIMEOUT_MS);
    request.on('error', (error: NodeJS.ErrnoException) =>
      cut(error.code === 'ECONNREFUSED' ? REFUSED : OTHER),
    );
    request.end(body ?? undefined);
  });
}

export default {
  asyncRequest,
  setResponseCallback: (): void => undefined,
  expectedStatuses: (): null => null,
};
