/** demo and check: measure, judge, write, and say with which code to exit. */
import { join } from 'node:path';
import { CASES } from '../cases/index.ts';
import { loadConfig } from '../config/load.ts';
import { createLogger } from '../log.ts';
import type { HeaderRecord } from '../recording/schema.ts';
import { run } from '../run/run.ts';
import { resolveTarget } from '../targets/resolve.ts';
import type { Build } from '../targets/target.ts';
import type { Report } from '../verdict/schema.ts';
import { exitCodeOf, type ExitCode, UNDECIDED } from './exit.ts';
import type { MeasureOptions, TargetOptions } from './options.ts';
import { publish } from './publish.ts';
import { progressView } from './progress.ts';
import { redactedCommand } from './redact.ts';

/** The affected and the patched build of both lines. */
export const BUILT_IN = ['1.29.1', '1.30.0', '2.1.1', '2.2.0'].map((version) => `python:mcp@${version}`);

/** Shows what the four built-in builds keep; it does not judge. */
export async function demo(options: MeasureOptions, signal: AbortSignal): Promise<ExitCode> {
  const report = await measure(BUILT_IN, options, {}, signal);
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
  const builds: Build[] = targets.map((text) =>
    resolveTarget(text, {
      config,
      allowHosts: target.allowHost ?? [],
      ...(target.pid !== undefined && { pid: target.pid }),
      headers: target.header ?? {},
      ...(options.probeDir !== undefined && { probeDir: options.probeDir }),
    }),
  );
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
    out: options.out ?? defaultOut(),
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
