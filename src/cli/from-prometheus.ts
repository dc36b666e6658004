/** check --from-prometheus: the verdict of a run from what Prometheus has scraped of it. */
import { InvalidArgumentError, type Command } from 'commander';
import { loadConfig } from '../config/load.ts';
import { duration } from '../config/schema.ts';
import { PrometheusClient } from '../prometheus/client.ts';
import { readRun } from '../prometheus/read.ts';
import { reportOf } from '../prometheus/report.ts';
import { UsageError } from '../targets/target.ts';
import { checkAllowances } from './allow.ts';
import { exitCodeOf, type ExitCode } from './exit.ts';
import type { MeasureOptions, TargetOptions } from './options.ts';
import { checkReports } from './places.ts';
import { present } from './publish.ts';
import { parseSelector } from './selector.ts';

interface PrometheusOptions {
  readonly fromPrometheus?: string;
  readonly run?: string;
  readonly target?: string;
  readonly window?: number;
  readonly from?: number;
  readonly to?: number;
  readonly selector?: string;
}

export type CheckOptions = MeasureOptions & TargetOptions & PrometheusOptions;

const DEFAULT_WINDOW = '24h';

export function withPrometheusOptions(command: Command): Command {
  return command
    .option(
      '--from-prometheus <url>',
      'judge a run by its series, in place of playing it: [user:password@]host, with --header where it asks for one. Reading is no load: any host may be named',
    )
    .option('--run <id>', 'with --from-prometheus: the label run of the load’s series')
    .option('--target <name>', 'with --from-prometheus: this target of the run alone')
    .option(
      '--window <duration>',
      `with --from-prometheus: how long before --to the run is looked for (default: ${DEFAULT_WINDOW})`,
      seconds,
    )
    .option(
      '--from <time>',
      'with --from-prometheus: the run began after this, as 2026-01-31T12:00:00Z',
      time,
    )
    .option('--to <time>', 'with --from-prometheus: look no further than this (default: now)', time)
    .option(
      '--selector <matchers>',
      'with --from-prometheus: which of the exporter’s series, as in job="mcp"',
    );
}

function seconds(text: string): number {
  const read = duration.safeParse(text);
  if (!read.success || read.data <= 0)
    throw new InvalidArgumentError('write a length of time such as 90s, 30m or 2h.');
  return read.data;
}

/** RFC 3339, or seconds since the epoch. */
function time(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000;
  if (!Number.isFinite(value))
    throw new InvalidArgumentError('write a time such as 2026-01-31T12:00:00Z, or seconds since 1970.');
  return value;
}

/** What a check from Prometheus has no use for: nothing is played. */
const OF_PLAYING = [
  'case',
  'sessions',
  'concurrency',
  'seed',
  'out',
  'probeDir',
  'requireProbe',
  'allowHost',
  'pid',
] as const satisfies readonly (keyof CheckOptions)[];
const OF_PROMETHEUS = ['run', 'target', 'window', 'from', 'to', 'selector'] as const;

const optionOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** @throws UsageError where there is none, or where options of another way to check are given */
export function neededTarget(target: string | undefined, options: CheckOptions): string {
  const stray = OF_PROMETHEUS.find((name) => options[name] !== undefined);
  if (stray !== undefined)
    throw new UsageError(`${optionOf(stray)} goes with --from-prometheus: give its address as well.`);
  if (target === undefined)
    throw new UsageError(
      'check needs a target: python:mcp@VERSION, a URL, or a name from mcp-retention.yaml.',
    );
  return target;
}

/** @throws UsageError; PrometheusError where Prometheus cannot be read, or has no such run */
export async function checkFromPrometheus(
  target: string | undefined,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  const run = runOf(target, options);
  const config = await loadConfig(options.config, signal);
  checkAllowances(config, options.config);
  checkReports(options, null);
  const { fromPrometheus: url = '', header: headers = {}, selector } = options;
  const client = new PrometheusClient({ url, headers, signal });
  const read = await readRun(client, {
    run,
    target: options.target ?? null,
    ...spanOf(options),
    selector: selector === undefined ? '' : parseSelector(selector, '--selector'),
  });
  const { idleMax: idleMaxSeconds = null, maxSessions = null } = config.policy;
  const policy = { idleMaxSeconds, maxSessions };
  const report = reportOf(read, { run, prometheus: client.shown, policy, allow: config.allow });
  present({ report, series: () => [] }, options);
  return exitCodeOf(report);
}

/** @throws UsageError where options do not go together */
function runOf(target: string | undefined, options: CheckOptions): string {
  if (target !== undefined)
    throw new UsageError(
      'check --from-prometheus takes no target to play: name the one of the run by --target NAME.',
    );
  const stray = OF_PLAYING.find((name) => options[name] !== undefined);
  if (stray !== undefined)
    throw new UsageError(
      `${optionOf(stray)} goes with a check that plays cases: leave it out with --from-prometheus, which only reads.`,
    );
  const { run } = options;
  if (run === undefined || run === '')
    throw new UsageError('--from-prometheus needs --run ID: the label run of the load’s series.');
  return run;
}

/** @throws UsageError where nothing lies between */
function spanOf({ from, to, window }: PrometheusOptions): { readonly from: number; readonly to: number } {
  if (from !== undefined && window !== undefined)
    throw new UsageError('--from and --window both say where to begin: give one of them.');
  const until = to ?? Date.now() / 1000;
  const begin = from ?? until - (window ?? duration.parse(DEFAULT_WINDOW));
  if (begin >= until) throw new UsageError('--from must be before --to.');
  return { from: begin, to: until };
}
