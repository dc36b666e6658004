/** demo and check: measure, judge, write, and say with which code to exit. */
import { join } from 'node:path';
import { CASES } from '../cases/index.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { createLogger } from '../log.ts';
import type { HeaderRecord } from '../recording/schema.ts';
import { run } from '../run/run.ts';
import { isPackage, resolveTarget } from '../targets/resolve.ts';
import { UsageError, type Build } from '../targets/target.ts';
import type { Report } from '../verdict/schema.ts';
import { exitCodeOf, type ExitCode, UNDECIDED } from './exit.ts';
import type { MeasureOptions, TargetOptions } from './options.ts';
import { checkOut, checkReports, recordingIn } from './places.ts';
import { publish } from './publish.ts';
import { progressView } from './progress.ts';
import { redactedCommand } from './redact.ts';

/** The affected and the patched build of both lines. */
export const BUILT_IN = ['1.29.1', '1.30.0', '2.1.1', '2.2.0'].map((version) => `python:mcp@${version}`);

/** Shows what the four built-in builds keep; it does not judge. */
export async function demo(options: MeasureOptions, signal: AbortSignal): Promise<ExitCode> {
  const report = await measure(BUILT_IN, options, {}, signal);
  process.stdout.write(
    '\nThe demo shows what each build keeps and does not judge: it exits 0 when all were measured.\n',
  );
  const measured = report.complete && report.builds.every((build) => build.cases.every(wasMeasured));
  return measured ? 0 : UNDECIDED;
}

export async function check(
  target: string,
  options: MeasureOptions & TargetOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  return exitCodeOf(await measure([target], options, options, signal));
}

const wasMeasured = (played: Report['builds'][number]['cases'][number]): boolean =>
  played.claims.every((claim) => !claim.promised || claim.status !== 'unmeasured');

async function measure(
  targets: readonly string[],
  options: MeasureOptions,
  target: TargetOptions,
  signal: AbortSignal,
): Promise<Report> {
  const config = loadConfig(options.config);
  const builds = buildsOf(targets, config, options, target);
  const out = options.out ?? defaultOut();
  checkOut(out);
  checkReports(options, recordingIn(out));
  const cases = options.case ?? CASES;
  const view = progressView(process.stderr, builds.length * cases.length);
  const recording = await run({
    builds,
    cases,
    size: {
      ...(options.sessions !== undefined && { sessions: options.sessions }),
      ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    },
    seed: options.seed,
    out,
    policy: policyOf(config.policy),
    probeDir: options.probeDir ?? null,
    requireProbe: options.requireProbe === true,
    command: redactedCommand(process.argv.slice(2)),
    signal,
    onProgress: view.onProgress,
    log: createLogger(options.logLevel),
  }).finally(() => view.close());
  return publish(recording, options);
}

function buildsOf(
  targets: readonly string[],
  config: Config,
  { probeDir }: MeasureOptions,
  target: TargetOptions,
): Build[] {
  return targets.map((text) => {
    if (isPackage(text, config)) refuseUnused(text, target);
    return resolveTarget(text, {
      config,
      allowHosts: target.allowHost ?? [],
      ...(target.pid !== undefined && { pid: target.pid }),
      headers: target.header ?? {},
      ...(probeDir !== undefined && { probeDir }),
    });
  });
}

/** What a package has no use for would be left out without a word. */
function refuseUnused(text: string, { header, allowHost }: TargetOptions): void {
  const option = header !== undefined ? '--header' : allowHost !== undefined ? '--allow-host' : null;
  if (option !== null)
    throw new UsageError(
      `${option} goes with a server that is not this tool's own: ${text} is served on loopback and takes no headers.`,
    );
}

function policyOf(policy: {
  idleMax?: number | undefined;
  maxSessions?: number | undefined;
}): HeaderRecord['policy'] {
  return { idleMaxSeconds: policy.idleMax ?? null, maxSessions: policy.maxSessions ?? null };
}

/** A folder of its own for each run: no recording is ever overwritten. */
function defaultOut(): string {
  const stamp = new Date()
    .toISOString()
    .replace(/[-:]/g, '')
    .replace('T', '-')
    .replace('.', '-')
    .replace('Z', '');
  return join('.mcp-retention', stamp);
}
