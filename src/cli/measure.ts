/** demo and check: measure, judge, write, and say with which code to exit. */
import { CASES } from '../cases/index.ts';
import { loadConfig } from '../config/load.ts';
import { DEFAULT_SEED } from '../run/run-options.ts';
import { run } from '../run/run.ts';
import type { Report } from '../verdict/schema.ts';
import { exitCodeOf, type ExitCode, UNDECIDED } from './exit.ts';
import type { MeasureOptions, TargetOptions } from './options.ts';
import { publish } from './publish.ts';
import { measuring, refuseUnused, resolver } from './run-options.ts';

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

/** @param onRecording receives the recording's path */
export async function check(
  target: string,
  options: MeasureOptions & TargetOptions,
  signal: AbortSignal,
  onRecording?: (path: string) => void,
): Promise<ExitCode> {
  return exitCodeOf(await measure([target], options, options, signal, onRecording));
}

const wasMeasured = (played: Report['builds'][number]['cases'][number]): boolean =>
  played.claims.every((claim) => !claim.promised || claim.status !== 'unmeasured');

async function measure(
  targets: readonly string[],
  options: MeasureOptions,
  target: TargetOptions,
  signal: AbortSignal,
  onRecording?: (path: string) => void,
): Promise<Report> {
  const config = await loadConfig(options.config, signal);
  refuseUnused(targets, config, target);
  const builds = targets.map(resolver(config, options, target));
  const cases = options.case ?? CASES;
  const recording = await measuring(
    { options, config, signal, arms: builds.length * cases.length },
    (common) => run({ ...common, builds, cases, seed: options.seed ?? DEFAULT_SEED }),
  );
  onRecording?.(recording);
  return publish(recording, options);
}
