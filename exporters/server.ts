/** Serves /metrics, /healthz and a page that links them, over HTTP or HTTPS. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { parseAddress, ADDRESS_MEND, showAddress } from '../src/config/address.ts';
import { ConfigError } from '../src/config/load.ts';
import { basicAuth, type Authenticate } from './authentication.ts';
import type { Exposition } from './exposition.ts';
import { landingPage } from './landing.ts';
import { OPEN_WEB, type WebConfig } from './web-config.ts';
import { enforceClientCertificates } from './tls.ts';

/** What Prometheus has as its own default. */
const DEFAULT_SCRAPE_TIMEOUT_MS = 10_000;
const LONGEST_SCRAPE_TIMEOUT_MS = 120_000;
/** The rest is for the way to Prometheus, which throws away what comes after its timeout. */
const SHARE_OF_TIMEOUT = 0.8;
/** Longer than the usual scrape interval, so that Prometheus keeps its connection. */
const KEEP_ALIVE_MS = 120_000;
/** What answers that are under way get when the server closes. */
const CLOSING_MS = 1_000;

export interface ServeOptions {
  /** `host:port`; port 0 lets the system choose. */
  readonly listen: string;
  readonly title: string;
  /**
   * @param accept the request's Accept header, or ''
   * @param deadlineMs the answer must be there by then: a share of what Prometheus says it waits
   */
  readonly render: (accept: string, deadlineMs: number) => Promise<Exposition>;
  /** Closes the server. */
  readonly signal: AbortSignal;
  /** TLS and users; without it, plain HTTP for everybody who can connect. */
  readonly web?: WebConfig;
  /** Hears of an error in `render`, which the scraper sees as HTTP 500. */
  readonly onError?: (error: unknown) => void;
}

export interface MetricsServer {
  /** `host:port` that it listens on. */
  readonly address: string;
  /** `http://host:port/` or `https://…`. */
  readonly url: string;
  /** Resolves once it listens no more, whatever closed it. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** @throws ConfigError where the address is none or cannot be listened on; nothing is left running then. */
export async function serveMetrics(options: ServeOptions): Promise<MetricsServer> {
  const wanted = parseAddress(options.listen);
  if (wanted === null) throw new ConfigError(`${options.listen} is no address: ${ADDRESS_MEND}.`);
  const web = options.web ?? OPEN_WEB;
  const handle = handler(options, web.users.size === 0 ? null : basicAuth(web.users));
  const server = web.tls === null ? createServer(handle) : createTlsServer(web.tls.options, handle);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  if (web.tls !== null) enforceClientCertificates(server, web.tls);
  await listen(server, wanted);
  const bound = server.address() as AddressInfo;
  const address = showAddress({ host: bound.address, port: bound.port });
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  const close = async (): Promise<void> => {
    options.signal.removeEventListener('abort', onAbort);
    hangUp(server);
    await closed;
  };
  const onAbort = (): void => void close();
  options.signal.addEventListener('abort', onAbort, { once: true });
  if (options.signal.aborted) await close();
  return { address, url: `${web.tls === null ? 'http' : 'https'}://${address}/`, closed, close };
}

/** @throws ConfigError with one sentence */
export function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      server.close();
      reject(new ConfigError(`cannot listen on ${showAddress({ host, port })}: ${whyNot(error)}`));
    });
    server.listen(port, host, resolve);
  });
}

function whyNot(error: NodeJS.ErrnoException): string {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'another program listens there; choose another port.',
    EADDRNOTAVAIL: 'this machine has no such address.',
    EACCES: 'this user may not listen on that port; choose one above 1023.',
    ENOTFOUND: 'the name cannot be resolved.',
    EAI_AGAIN: 'the name cannot be resolved now.',
  };
  return reasons[error.code ?? ''] ?? `${error.code ?? error.message}.`;
}

/** Answers that are under way are finished, within bounds. */
export function hangUp(server: Server): void {
  server.close();
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), CLOSING_MS).unref();
  server.once('close', () => clearTimeout(cut));
}

const PLAIN = 'text/plain; charset=utf-8';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

function handler(options: ServeOptions, authenticate: Authenticate | null): Handler {
  return (req, res) => {
    req.resume();
    void answer(options, authenticate, req, res).catch((error: unknown) => {
      options.onError?.(error);
      if (res.headersSent) res.destroy();
      else send(req, res, 500, { contentType: PLAIN, body: 'The scrape failed.\n' });
    });
  };
}

async function answer(
  options: ServeOptions,
  authenticate: Authenticate | null,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { authorization } = req.headers;
  const found =
    authenticate === null ? 'right' : await authenticate(authorization, () => !req.socket.writable);
  if (found === 'busy') {
    send(req, res, 503, { contentType: PLAIN, body: 'Too many ask who they are at once\n' });
    return;
  }
  if (found === 'wrong') {
    res.setHeader('www-authenticate', 'Basic realm="metrics", charset="UTF-8"');
    send(req, res, 401, { contentType: PLAIN, body: 'Unauthorized\n' });
    return;
  }
  const page = await pageFor(options, req, res);
  send(req, res, page.status ?? 200, page);
}

interface Page extends Exposition {
  readonly status?: number;
}

async function pageFor(
  { render, title }: ServeOptions,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<Page> {
  const path = (req.url ?? '').split('?')[0];
  if (path !== '/metrics' && path !== '/healthz' && path !== '/')
    return { status: 404, contentType: PLAIN, body: 'Not found\n' };
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    res.setHeader('allow', 'GET, HEAD');
    return { status: 405, contentType: PLAIN, body: 'Method not allowed\n' };
  }
  if (path === '/healthz') return { contentType: PLAIN, body: 'ok\n' };
  if (path === '/') return { contentType: 'text/html; charset=utf-8', body: landingPage(title) };
  res.setHeader('vary', 'accept');
  return render(req.headers.accept ?? '', deadlineOf(req));
}

function send(req: IncomingMessage, res: ServerResponse, status: number, page: Exposition): void {
  res.writeHead(status, {
    'content-type': page.contentType,
    'content-length': Buffer.byteLength(page.body),
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  });
  res.end(req.method === 'HEAD' ? undefined : page.body);
}

/** Milliseconds for a scrape, from what Prometheus says of its own timeout. */
function deadlineOf(req: IncomingMessage): number {
  const seconds = Number(req.headers['x-prometheus-scrape-timeout-seconds']);
  const timeoutMs = seconds > 0 ? seconds * 1000 : DEFAULT_SCRAPE_TIMEOUT_MS;
  return Math.min(timeoutMs, LONGEST_SCRAPE_TIMEOUT_MS) * SHARE_OF_TIMEOUT;
}
