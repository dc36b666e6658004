/**
 * Load goes to this machine alone, unless the user names the host.
 */
import { lookup } from 'node:dns/promises';
import net from 'node:net';
import { publicUrl } from './secrets.ts';
import { UsageError } from './target.ts';

const loopback = new net.BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const CONNECT_TIMEOUT_MS = 1_000;

/** An http(s) URL. @throws UsageError */
export function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `${publicUrl(text)} is not a URL of an endpoint: write one such as http://127.0.0.1:8000/mcp.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(
      `The URL for ${url.host} holds a password: leave it out and send a header, with \${NAME} for the secret.`,
    );
  }
  return url;
}

/** Host without brackets and port where it listens, as sockets want them. */
export function addressOf(url: URL): { host: string; port: number } {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port };
}

/**
 * Refuses a host that is not this machine and was not allowed. A name must resolve to loopback addresses only.
 * @param allowed hosts, or hosts with ports, from --allow-host.
 * @throws UsageError with the mend.
 */
export async function requireAllowedHost(url: URL, allowed: readonly string[]): Promise<void> {
  const { host } = addressOf(url);
  const names = [host, url.hostname, url.host].map((name) => name.toLowerCase());
  if (allowed.some((name) => names.includes(name.toLowerCase()))) return;
  const addresses = await resolve(host);
  if (addresses.every(isLoopback)) return;
  throw new UsageError(
    `${host} is not this machine: if you may put load on it, allow it with --allow-host ${host} (in a program: allowHosts).`,
  );
}

async function resolve(host: string): Promise<string[]> {
  if (net.isIP(host) !== 0) return [host];
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    throw new UsageError(`${host} cannot be resolved to an address: check the URL.`);
  }
}

export function isLoopback(address: string): boolean {
  return loopback.check(address, net.isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Does a bare TCP connect succeed? Nothing is sent. */
export function connects(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ ...addressOf(url), timeout: CONNECT_TIMEOUT_MS });
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}

/** A port of 127.0.0.1 that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
