/** What a script is run with: environment variables, read and checked before anything is sent. */
import { DEFAULT_MIX, parseMix, type Mix } from '../../src/cases/mixed.ts';

export interface ScriptOptions {
  readonly target: string;
  /** The `target` tag: TARGET_NAME, or the URL without what may be secret. */
  readonly targetName: string;
  /** Whether TARGET_NAME was given, so that the exporter's series can be told apart by it. */
  readonly isNamed: boolean;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** They came by a name that k6's remote write reads as well. */
  readonly isAmbiguous: boolean;
  /** Address of the exporter's /metrics, or null. */
  readonly metrics: string | null;
  readonly sessions: number | null;
  readonly vus: number | null;
  /** Shares of the kinds of sessions that arrive. */
  readonly mix: Mix;
  /** Arrivals per second. */
  readonly rate: number | null;
  /** As k6 writes it, such as 10m. */
  readonly duration: string | null;
  /** Seconds. */
  readonly idleTimeout: number | null;
  readonly cap: number | null;
  readonly seed: number;
  readonly run: string;
  readonly build: string;
  /** Files to write the report to, or null. */
  readonly json: string | null;
  readonly junit: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_SEED = 1;
const EXAMPLE = 'http://127.0.0.1:8000/mcp';
/** These follow from the session. */
const OWN_HEADERS = ['mcp-session-id', 'mcp-protocol-version'];

/** @throws Error with one sentence that names the variable and the mend */
export function readOptions(env: Environment, now: Date = new Date()): ScriptOptions {
  const target = targetOf(env);
  const name = text(env, 'TARGET_NAME');
  return {
    target,
    targetName: name ?? publicUrl(target),
    isNamed: name !== null,
    headers: headersOf(env),
    isAmbiguous: text(env, 'HEADERS') !== null,
    metrics: metricsOf(env),
    sessions: whole(env, 'SESSIONS', 1),
    vus: whole(env, 'VUS', 1),
    mix: mixOf(env),
    rate: arrivalRate(env),
    duration: durationOf(env),
    idleTimeout: positive(env, 'IDLE_TIMEOUT', 'seconds'),
    cap: whole(env, 'CAP', 1),
    seed: whole(env, 'SEED', 0) ?? DEFAULT_SEED,
    run: text(env, 'RUN') ?? now.toISOString().replace(/\.\d+/, ''),
    build: text(env, 'BUILD') ?? 'unknown',
    json: text(env, 'JSON'),
    junit: text(env, 'JUNIT'),
  };
}

const text = (env: Environment, name: string): string | null => {
  const value = env[name]?.trim() ?? '';
  return value === '' ? null : value;
};

function whole(env: Environment, name: string, least: number): number | null {
  const value = text(env, name);
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value) && Number(value) >= least) return Number(value);
  throw new Error(
    `${name} is no whole number of at least ${least}: write one such as ${name}=${least + 19}.`,
  );
}

function positive(env: Environment, name: string, unit: string): number | null {
  const value = text(env, name);
  if (value === null) return null;
  if (/^\d{1,6}(\.\d{1,6})?$/.test(value) && Number(value) > 0) return Number(value);
  throw new Error(`${name} is no number of ${unit} above 0: write one such as ${name}=5.`);
}

/** In hundredths, since k6 takes whole numbers of arrivals: so many in 100 seconds. */
function arrivalRate(env: Environment): number | null {
  const rate = positive(env, 'RATE', 'arrivals per second');
  if (rate === null || /^\d+(\.\d{1,2}0*)?$/.test(text(env, 'RATE') ?? '')) return rate;
  throw new Error('RATE is no number of whole hundredths: write at most two decimals, such as RATE=0.25.');
}

function mixOf(env: Environment): Mix {
  const value = text(env, 'MIX');
  if (value === null) return DEFAULT_MIX;
  try {
    return parseMix(value);
  } catch (error) {
    throw new Error(`MIX is no list of shares: ${error instanceof Error ? error.message : ''}`, {
      cause: error,
    });
  }
}

function durationOf(env: Environment): string | null {
  const value = text(env, 'DURATION');
  if (value === null) return null;
  // k6 takes no shorter scenario.
  if (/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(value) && secondsOf(value) >= 1) return value;
  throw new Error('DURATION is no length of time of at least 1s: write one such as DURATION=10m.');
}

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** @param duration as k6 writes it, such as 1h30m */
export const secondsOf = (duration: string): number =>
  [...duration.matchAll(/([\d.]+)(ms|s|m|h)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (SECONDS[unit ?? ''] ?? NaN),
    0,
  );

/** What HTTP lets a header be called, and hold (RFC 9110, section 5). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function headersOf(env: Environment): Record<string, string> {
  const given = (['REQUEST_HEADERS', 'HEADERS'] as const).filter((one) => text(env, one) !== null);
  if (given.length > 1) throw new Error('HEADERS and REQUEST_HEADERS are both set: keep REQUEST_HEADERS.');
  const [variable] = given;
  if (variable === undefined) return {};
  const read = readObject(text(env, variable) ?? '');
  if (read === null)
    throw new Error(
      `${variable} is no JSON object of strings: write one such as {"Authorization":"Bearer …"}.`,
    );
  const bad = Object.entries(read).find(
    ([name, header]) => !HEADER_NAME.test(name) || !HEADER_VALUE.test(header),
  );
  if (bad !== undefined)
    throw new Error(
      `${variable} has ${JSON.stringify(bad[0])}, whose name or value cannot be sent as a header: leave out line breaks, blanks in names and what is not Latin-1.`,
    );
  const named = Object.entries(read).map(([name, header]) => [name.toLowerCase(), header] as const);
  return Object.fromEntries(named.filter(([name]) => !OWN_HEADERS.includes(name)));
}

function readObject(value: string): Record<string, string> | null {
  try {
    const read: unknown = JSON.parse(value);
    if (typeof read !== 'object' || read === null || Array.isArray(read)) return null;
    return Object.values(read).every((one) => typeof one === 'string')
      ? (read as Record<string, string>)
      : null;
  } catch {
    return null;
  }
}

function metricsOf(env: Environment): string | null {
  const value = text(env, 'METRICS');
  if (value === null || partsOf(value) !== null) return value;
  if (hasPassword(value))
    throw new Error('METRICS has a password in it, which k6 would show: give the address without one.');
  throw new Error(
    'METRICS is no address of an exporter: write one such as METRICS=http://127.0.0.1:19640/metrics.',
  );
}

function targetOf(env: Environment): string {
  const value = text(env, 'TARGET');
  if (value === null) throw new Error(`TARGET is not set: name the endpoint, such as TARGET=${EXAMPLE}.`);
  const parts = partsOf(value);
  if (parts === null && hasPassword(value))
    throw new Error(
      'TARGET has a password in it, which k6 would show: put it into REQUEST_HEADERS, such as {"Authorization":"Basic …"}.',
    );
  if (parts === null)
    throw new Error(`TARGET is not the URL of an endpoint: write one such as TARGET=${EXAMPLE}.`);
  const allowed = (text(env, 'ALLOW_HOST') ?? '').toLowerCase().split(/[\s,]+/);
  const { host, hostAndPort } = parts;
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  if (isLoopback(host) || [host, bare, hostAndPort].some((name) => allowed.includes(name))) return value;
  throw new Error(
    `${host} is not this machine: if you may put load on it, allow it with ALLOW_HOST=${host}. Names but localhost are not looked up.`,
  );
}

/** k6 has no URL class. What does not look like a plain http(s) URL is none: also one that holds a password. */
function partsOf(value: string): { host: string; hostAndPort: string } | null {
  const match =
    /^https?:\/\/((\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::\d{1,5})?)(?:[/?#]|$)/i.exec(value);
  const [, hostAndPort, host] = match ?? [];
  if (host === undefined || hostAndPort === undefined || /\s/.test(value)) return null;
  return { host: host.toLowerCase(), hostAndPort: hostAndPort.toLowerCase() };
}

const hasPassword = (url: string): boolean => /^https?:\/\/[^/?#\\]*@/i.test(url);

/** 127.0.0.0/8 in its one usual notation: what only looks like it may be a name that is looked up. */
const IPV4_LOOPBACK = /^127(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || IPV4_LOOPBACK.test(host);

/** Scheme, host and path: a query may hold a token. */
const publicUrl = (url: string): string => url.replace(/[?#].*$/s, '');
