/** What `load` takes, read and checked. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { DEFAULT_MIX, parseMix, type Mix } from '../cases/mixed.ts';
import { duration } from '../config/schema.ts';
import { LOG_LEVELS, type LogLevel } from '../log.ts';
import { folders, header, repeated, wholeNumber } from './options.ts';

export const DEFAULT_METRICS_LISTEN = '127.0.0.1:19641';

export interface LoadCommandOptions {
  readonly rate: number;
  readonly mix: Mix;
  readonly duration?: number;
  readonly linger?: number;
  readonly sessions?: number;
  readonly maxInFlight: number;
  readonly seed: number;
  readonly run?: string;
  readonly metricsListen: string;
  readonly probeDir?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly header?: Readonly<Record<string, string>>;
  readonly config?: string;
  readonly logLevel: LogLevel;
}

const FASTEST = 10_000;

export function withLoadOptions(command: Command): Command {
  return withEnd(command)
    .option('--rate <n>', 'arrivals per second on each target', rate, 5)
    .option(
      '--mix <shares>',
      `shares of the kinds of sessions, for example ${mixText(DEFAULT_MIX)}, which is the default`,
      mix,
      DEFAULT_MIX,
    )
    .option(
      '--max-in-flight <n>',
      'sessions at a time on each target; arrivals beyond them are left out and counted',
      wholeNumber(1, 10_000),
      200,
    )
    .option('--seed <n>', 'seed of schedule and payloads', wholeNumber(0, 2 ** 31 - 1), 1)
    .option('--run <id>', 'the label run of the metrics (default: the time it began)', runId)
    .option(
      '--metrics-listen <host:port>',
      'where to serve /metrics; port 0 picks one',
      DEFAULT_METRICS_LISTEN,
    )
    .option(
      '--probe-dir <dir>',
      'folder of the probes’ sockets; with several targets TARGET=DIR (repeatable)',
      folders,
    )
    .option('--allow-host <host>', 'allow load to this host, which is not loopback (repeatable)', repeated)
    .option('--header <header>', 'send "Name: value" with every request (repeatable)', header)
    .option('--config <file>', 'configuration (default: mcp-retention.yaml, where it is there)')
    .addOption(new Option('--log-level <level>', 'logs on stderr').choices(LOG_LEVELS).default('warn'));
}

/** When it is over, and what happens then. */
const withEnd = (command: Command): Command =>
  command
    .option('--duration <time>', 'end after this long, for example 90s, 10m or 2h (default: go on)', seconds)
    .option(
      '--linger <time>',
      'serve /metrics, and keep servers that this command started, for this long after the last session, so that Prometheus scrapes the last counts (default: not)',
      seconds,
    )
    .option(
      '--sessions <n>',
      'end after this many arrivals on each target (default: go on); one of over-cap is a burst of five sessions',
      wholeNumber(1, 1_000_000_000),
    );

const mixText = (shares: Mix): string =>
  Object.entries(shares)
    .map(([kind, share]) => `${kind}=${share}`)
    .join(',');

/** @throws InvalidArgumentError in one sentence */
export function mix(text: string): Mix {
  try {
    return parseMix(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function rate(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && value <= FASTEST))
    throw new InvalidArgumentError(`give a number above 0 and up to ${FASTEST}.`);
  return value;
}

function seconds(text: string): number {
  const read = duration.safeParse(text);
  if (!read.success || read.data <= 0)
    throw new InvalidArgumentError('write a length of time such as 90s, 30m or 2h.');
  return read.data;
}

function runId(text: string): string {
  if (!/^[\w.:-]{1,64}$/.test(text))
    throw new InvalidArgumentError('write up to 64 letters, digits, and . _ : - only.');
  return text;
}
