/** load: a sustained mixed load with its own /metrics, and what came of it. */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { renderRegistry } from '../../exporters/exposition.ts';
import { serveMetrics } from '../../exporters/server.ts';
import { KINDS } from '../cases/mixed.ts';
import { exportedName } from '../config/exporter.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { runLoad } from '../load/load.ts';
import { LoadMetrics } from '../load/metrics.ts';
import type { LoadSummary, LoadTarget, TargetSummary } from '../load/options.ts';
import { createLogger, type Logger } from '../log.ts';
import { resolveTarget } from '../targets/resolve.ts';
import { UsageError } from '../targets/target.ts';
import { UNDECIDED, type ExitCode } from './exit.ts';
import { withLoadOptions, type LoadCommandOptions } from './load-options.ts';

/** A larger share of arrivals left out, and the load was not what was asked for. */
const MOST_LATE = 0.05;

export function loadCommand(root: Command, signal: AbortSignal, done: (code: ExitCode) => void): void {
  withLoadOptions(
    root.command('load').description('sustained mixed load on one or more targets, with its own /metrics'),
  )
    .argument('<target...>', 'python:mcp@VERSION, an http(s) URL, or a name from mcp-retention.yaml')
    .action(async (targets: string[], options: LoadCommandOptions) =>
      done(await load(targets, options, signal)),
    );
}

async function load(
  names: readonly string[],
  options: LoadCommandOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  const config = await loadConfig(options.config, signal);
  const targets = targetsOf(names, options, config);
  const log = createLogger(options.logLevel);
  const metrics = new LoadMetrics(options.run ?? timestamp());
  const server = await serve(options.metricsListen, metrics, log);
  try {
    const summary = await runLoad({
      targets,
      seed: options.seed,
      rate: options.rate,
      mix: options.mix,
      sessions: options.sessions ?? null,
      duration: options.duration ?? null,
      linger: options.linger ?? 0,
      maxInFlight: options.maxInFlight,
      idleMaxSeconds: config.policy.idleMax ?? null,
      metrics,
      signal,
      log,
    });
    process.stdout.write(`${table(summary)}\n`);
    const opens = KINDS.some((kind) => kind !== 'reject' && options.mix[kind] !== undefined);
    const faults = summary.targets.flatMap((one) => sentences(one, opens));
    for (const sentence of [...faults, ...summary.targets.flatMap(remarks)])
      process.stderr.write(`${sentence}\n`);
    return isUndecided(summary, opens) ? UNDECIDED : 0;
  } finally {
    await server.close();
  }
}

/** Serves until it is closed: also while sessions are being closed after a signal. */
async function serve(listen: string, metrics: LoadMetrics, log: Logger) {
  const server = await serveMetrics({
    listen,
    title: 'mcp-retention load',
    render: (accept) => {
      metrics.publish();
      return renderRegistry(metrics.registry, accept);
    },
    signal: new AbortController().signal,
    onError: (error) => log.error({ code: 'metrics', err: error }, 'the metrics could not be rendered'),
  });
  process.stderr.write(`serving ${server.url}metrics\n`);
  return server;
}

function targetsOf(names: readonly string[], options: LoadCommandOptions, config: Config): LoadTarget[] {
  const dirs = probeDirs(names, options.probeDir ?? []);
  const { targets: exported } = config.exporter;
  return names.map((name) => {
    const given = dirs.get(name);
    // Under the exporter's label, so that what is expected stands beside what is registered.
    const label =
      Object.hasOwn(exported, name) || given === undefined ? null : exportedName(given, config.exporter);
    const known = Object.hasOwn(exported, label ?? name) ? exported[label ?? name] : undefined;
    const probeDir = given ?? known?.probeDir;
    const build = resolveTarget(name, {
      config,
      allowHosts: options.allowHost ?? [],
      headers: options.header ?? {},
      ...(probeDir !== undefined && { probeDir }),
    });
    return { build, name: label, probeDir: probeDir ?? null, label: known?.build ?? null };
  });
}

/** Which target's probe is where. @throws UsageError */
function probeDirs(names: readonly string[], given: readonly string[]): ReadonlyMap<string, string> {
  const dirs = new Map<string, string>();
  for (const text of given) {
    const named = names.find((name) => text.startsWith(`${name}=`));
    const [only] = names.length === 1 ? names : [];
    const name = named ?? only;
    if (name === undefined)
      throw new UsageError(
        `--probe-dir ${text} does not say which target it is for: write --probe-dir TARGET=DIR, with one of ${names.join(', ')}.`,
      );
    const dir = named === undefined ? text : text.slice(name.length + 1);
    if (dir === '') throw new UsageError(`--probe-dir ${text} names no folder: write it after the =.`);
    if (dirs.has(name)) throw new UsageError(`--probe-dir is given twice for ${name}: give it once.`);
    dirs.set(name, dir);
  }
  return dirs;
}

const timestamp = (): string => new Date().toISOString().replace(/[-:]/g, '').replace(/\..*/, '');

function table({ targets }: LoadSummary): string {
  const counts = ['opened', 'deleted', 'abandoned', 'refused', 'uncertain'] as const;
  const out = new Table({
    head: ['target', ...counts, 'expected', 'late', 'p50 ms', 'p99 ms'],
    colAligns: ['left', ...Array.from({ length: counts.length + 4 }, () => 'right' as const)],
    style: { head: [], border: [] },
  });
  for (const one of targets) {
    const { min, max } = one.expected;
    out.push([
      one.target,
      ...counts.map((name) => one.counts[name]),
      min === max ? min : `${min}–${max}`,
      one.late,
      one.p50?.toFixed(1) ?? '',
      one.p99?.toFixed(1) ?? '',
    ]);
  }
  return out.toString();
}

const wasLate = ({ late, arrivals }: TargetSummary): boolean => late > MOST_LATE * arrivals;

const openedNone = ({ started, failure, counts }: TargetSummary): boolean =>
  started && failure === null && counts.opened === 0;

/**
 * Undecided: a target was never there, none is there any more, or one did not get the load that was asked for.
 * @param opens whether the mix has kinds that open sessions
 */
function isUndecided({ targets }: LoadSummary, opens: boolean): boolean {
  return (
    targets.some((one) => !one.started || wasLate(one) || (opens && openedNone(one))) ||
    targets.every((one) => one.failure !== null)
  );
}

function sentences(one: TargetSummary, opens: boolean): string[] {
  const { target, late, arrivals, failure } = one;
  const none =
    arrivals === 0
      ? 'nothing arrived before the end: give it more time, or raise --rate'
      : `none of ${arrivals} arrivals opened a session, so nothing was measured: see what the server answers`;
  return [
    ...(failure === null ? [] : [`${target}: ${failure}`]),
    ...(opens && openedNone(one) ? [`${target}: ${none}.`] : []),
    ...(wasLate(one)
      ? [
          `${target}: ${late} of ${arrivals} arrivals were left out, so it did not get the load that was asked for: lower --rate, or raise --max-in-flight.`,
        ]
      : []),
  ];
}

const remarks = ({ target, leftBehind }: TargetSummary): string[] =>
  leftBehind === 0 ? [] : [`${target}: ${leftBehind} sessions could not be deleted and may still be there.`];
