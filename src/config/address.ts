/** Addresses, as `host:port`. */
import { isIPv4 } from 'node:net';

export interface ListenAddress {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

export const ADDRESS_MEND = 'write host:port, for example 127.0.0.1:19640, or [::1]:19640 for IPv6';

const MAX_PORT = 65_535;

/** `host:port`, or null where the text is none. Nothing is looked up. */
export function parseAddress(text: string): ListenAddress | null {
  const [, six, name, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]/@]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = six ?? name;
  const port = Number(digits);
  return host === undefined || port > MAX_PORT ? null : { host, port };
}

/** Whether somebody on this machine may be found there. Nothing is looked up. */
export function isOnLoopback(text: string): boolean {
  const address = parseAddress(text);
  if (address === null || address.port === 0) return false;
  const { host } = address;
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

export const showAddress = ({ host, port }: ListenAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
