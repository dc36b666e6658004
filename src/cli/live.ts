/** --live: the HTML report on loopback while the run goes on. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { hangUp, listen } from '../../exporters/server.ts';
import { ADDRESS_MEND, parseAddress, showAddress, type ListenAddress } from '../config/address.ts';
import { policy } from '../report/html/document.ts';
import { isLoopback } from '../targets/loopback.ts';
import { UsageError } from '../targets/target.ts';
import { liveJudge, type LiveJudge } from './live-judge.ts';

/** A page asks every second: one that did so within this time is still there. */
const PRESENT_MS = 2500;
/** For the last state to reach every page; the run's own result does not wait longer. */
const FAREWELL_MS = 1500;
const LONGEST_FAREWELL_MS = 5000;

export interface Live {
  readonly url: string;
  /** Gives open pages the final state, then closes. */
  close(): Promise<void>;
}

/**
 * @param address `host:port` of this machine; true: 127.0.0.1 and any port
 * @param recording its path; it need not be there yet
 * @param signal closes at once
 * @throws UsageError, or ConfigError where the address cannot be listened on
 */
export async function serveLive(
  address: string | true,
  recording: string,
  signal: AbortSignal,
): Promise<Live> {
  const server = new LiveServer(liveJudge(recording));
  await server.open(addressOf(address));
  signal.addEventListener('abort', server.hangUp, { once: true });
  return {
    url: server.url,
    close: async () => {
      if (!signal.aborted) await server.sayFarewell();
      signal.removeEventListener('abort', server.hangUp);
      await server.close();
    },
  };
}

function addressOf(address: string | true): ListenAddress {
  if (address === true) return { host: '127.0.0.1', port: 0 };
  const wanted = parseAddress(address);
  if (wanted === null)
    throw new UsageError(
      `--live ${address} is no address: write --live alone after the target, or ${ADDRESS_MEND}.`,
    );
  const host = wanted.host === 'localhost' ? '127.0.0.1' : wanted.host;
  if (net.isIP(host) === 0 || !isLoopback(host))
    throw new UsageError(
      `--live ${address} is not of this machine alone: give 127.0.0.1 or [::1] with a port.`,
    );
  return { host, port: wanted.port };
}

class LiveServer {
  readonly #judge: LiveJudge;
  readonly #server: Server;
  #hosts = new Set<string>();
  #running = true;
  #lastAsked = -Infinity;
  #toldFinal: () => void = () => undefined;
  readonly #final = new Promise<void>((resolve) => (this.#toldFinal = resolve));
  url = '';

  constructor(judge: LiveJudge) {
    this.#judge = judge;
    this.#server = createServer((req, res) => void this.#answer(req, res));
  }

  async open(address: ListenAddress): Promise<void> {
    await listen(this.#server, address);
    const { port } = this.#server.address() as net.AddressInfo;
    this.url = `http://${showAddress({ ...address, port })}/`;
    this.#hosts = new Set([new URL(this.url).host, `localhost:${port}`]);
  }

  readonly hangUp = (): void => hangUp(this.#server);

  /** Waits until the pages that are there have the final state. */
  async sayFarewell(): Promise<void> {
    this.#running = false;
    if (performance.now() - this.#lastAsked > PRESENT_MS) return;
    const late = sleep(LONGEST_FAREWELL_MS, undefined, { ref: true });
    await Promise.race([this.#final.then(() => sleep(FAREWELL_MS)), late]);
  }

  async close(): Promise<void> {
    const closed = this.#server.listening
      ? new Promise((resolve) => this.#server.once('close', resolve))
      : Promise.resolve();
    hangUp(this.#server);
    await closed;
    await this.#judge.stop();
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    req.resume();
    // A name that someone else makes lead to this machine would let his pages read this one.
    if (!this.#hosts.has(req.headers.host ?? '')) {
      send(req, res, 421, PLAIN, 'Misdirected request\n');
      return;
    }
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      res.setHeader('allow', 'GET, HEAD');
      send(req, res, 405, PLAIN, 'Method not allowed\n');
      return;
    }
    const path = (req.url ?? '').split('?')[0];
    if (path !== '/' && path !== '/data.json') {
      send(req, res, 404, PLAIN, 'Not found\n');
      return;
    }
    try {
      await (path === '/' ? this.#page(req, res) : this.#data(req, res));
    } catch (error) {
      send(req, res, 503, PLAIN, `${(error as Error).message}\n`);
    }
  }

  async #page(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const text = await this.#judge.ask({ what: 'page', running: this.#running });
    this.#lastAsked = performance.now();
    send(req, res, 200, 'text/html; charset=utf-8', text);
  }

  async #data(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.#lastAsked = performance.now();
    const running = this.#running;
    const text = await this.#judge.ask({ what: 'data', running });
    if (!running) res.once('finish', this.#toldFinal);
    send(req, res, 200, 'application/json', text);
  }
}

const PLAIN = 'text/plain; charset=utf-8';

function send(req: IncomingMessage, res: ServerResponse, status: number, type: string, body: string): void {
  res.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'content-security-policy': `${policy(true)}; frame-ancestors 'none'`,
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  res.end(req.method === 'HEAD' ? undefined : body);
}
