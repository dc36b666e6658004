/** compare: the release check. Both builds alike and in turn, then what got worse and what got better. */
import { statSync } from 'node:fs';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { CASES } from '../cases/index.ts';
import { loadConfig } from '../config/load.ts';
import type { ComparisonRecord } from '../recording/schema.ts';
import { runComparison, type Side } from '../run/compare.ts';
import { recordingPath, sideOf } from '../run/side.ts';
import { isPackage } from '../targets/resolve.ts';
import { UsageError, type Build } from '../targets/target.ts';
import { checkBaseline, updateBaseline } from './baseline.ts';
import { exitCodeOf, type ExitCode } from './exit.ts';
import { check } from './measure.ts';
import { withMeasureOptions, withTargetOptions, type MeasureOptions, type TargetOptions } from './options.ts';
import { checkKept } from './places.ts';
import { publish } from './publish.ts';
import { measuring, refuseUnused, resolver } from './run-options.ts';

interface CompareOptions extends MeasureOptions, TargetOptions {
  readonly baseline: 'keep' | 'update';
  readonly performance?: number | true;
  readonly smallestEffect?: number;
  readonly failOn?: 'performance';
}

const DEFAULT_BUDGET_SECONDS = 60;
const DEFAULT_SMALLEST_EFFECT = 10;

export function compareCommand(root: Command, signal: AbortSignal, done: (code: ExitCode) => void): void {
  const target = 'python:mcp@VERSION, an http(s) URL, a name from mcp-retention.yaml, or a recording';
  withTargetOptions(
    withMeasureOptions(
      root
        .command('compare')
        .description('release check: exit 1 where the candidate is worse than the baseline'),
    ),
  )
    .argument('<baseline>', target)
    .argument('<candidate>', target)
    .option(
      '--performance [seconds]',
      `compare speed and memory too, for at most this long (${DEFAULT_BUDGET_SECONDS})`,
      seconds,
    )
    .option(
      '--smallest-effect <percent>',
      `the smallest change of speed worth reporting (default: ${DEFAULT_SMALLEST_EFFECT})`,
      percent,
    )
    .addOption(
      new Option('--fail-on <what>', 'exit 1 where speed got worse, 3 where that is undecided').choices([
        'performance',
      ]),
    )
    .addOption(
      new Option(
        '--baseline <what>',
        "what becomes of a baseline's recording: update puts the candidate's in its place",
      )
        .choices(['keep', 'update'])
        .default('keep'),
    )
    .action(async (baseline: string, candidate: string, options: CompareOptions) =>
      done(await compare(baseline, candidate, options, signal)),
    );
}

function seconds(text: string): number {
  const value = Number(text);
  if (!(value >= 1 && value <= 3600)) throw new InvalidArgumentError('give seconds from 1 to 3600.');
  return value;
}

function percent(text: string): number {
  const value = Number(text);
  if (!(value >= 1 && value <= 100)) throw new InvalidArgumentError('give percent from 1 to 100.');
  return value;
}

async function compare(
  baseline: string,
  candidate: string,
  options: CompareOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  const performance = performanceOptions(options);
  const config = await loadConfig(options.config, signal);
  const names = Object.keys(config.targets);
  const updated = options.baseline === 'update' ? checkBaseline(baseline, names) : null;
  checkRead([baseline, candidate], names, options);
  if (updated !== null && statSync(updated, { throwIfNoEntry: false }) === undefined)
    return firstBaseline(updated, candidate, options, signal);
  const measured = [baseline, candidate].filter((text) => names.includes(text) || !recordingPath(text));
  refuseUnread(measured, options);
  refuseUnused(measured, config, options);
  // A package beside somebody's server takes none of the options that speak of the latter.
  const given = (text: string): TargetOptions =>
    measured.length > 1 && isPackage(text, config) ? {} : options;
  const resolve = (text: string): Build => resolver(config, options, given(text))(text);
  const sides = {
    baseline: await sideOf(baseline, names, resolve, signal),
    candidate: await sideOf(candidate, names, resolve, signal),
  };
  refuseShared(sides, options);
  const { case: cases, seed } = options;
  const recording = await measuring(
    { options, config, signal, arms: measured.length * (cases ?? CASES).length },
    (common) =>
      runComparison({
        ...common,
        ...sides,
        ...(cases !== undefined && { cases }),
        ...(seed !== undefined && { seed }),
        performance,
      }),
  );
  const report = await publish(recording, options);
  if (updated !== null) await updateBaseline(recording, updated, sides.baseline);
  return exitCodeOf(report);
}

/** Reports must not be written over what is compared. */
function checkRead(sides: readonly string[], names: readonly string[], options: CompareOptions): void {
  for (const text of sides) {
    const place = names.includes(text) ? null : recordingPath(text);
    if (place) checkKept(options, place.path);
  }
}

/** Where both are recordings nothing is measured, and an option for that would be left out without a word. */
function refuseUnread(measured: readonly string[], options: CompareOptions): void {
  const { sessions, concurrency, seed, probeDir, requireProbe, pid, header, allowHost } = options;
  const idle = { sessions, concurrency, seed, probeDir, requireProbe, pid, header, allowHost };
  const [option] = Object.entries(idle).find(([, value]) => value !== undefined) ?? [];
  if (option === undefined || measured.length > 0) return;
  const name = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(`--${name} is for what is measured, and both sides are recordings: leave it out.`);
}

function performanceOptions(options: CompareOptions): ComparisonRecord['performance'] {
  const decides = options.failOn === 'performance';
  if (options.performance === undefined) {
    if (decides) throw new UsageError('--fail-on performance needs speed to be measured: add --performance.');
    if (options.smallestEffect !== undefined)
      throw new UsageError('--smallest-effect needs speed to be measured: add --performance.');
    return null;
  }
  const budgetSeconds = options.performance === true ? DEFAULT_BUDGET_SECONDS : options.performance;
  return {
    budgetSeconds,
    smallestEffect: (options.smallestEffect ?? DEFAULT_SMALLEST_EFFECT) / 100,
    decides,
  };
}

/** There is nothing to compare with yet: the candidate is checked alone, and its recording becomes the baseline. */
async function firstBaseline(
  path: string,
  candidate: string,
  options: CompareOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  process.stderr.write(`there is no baseline ${path} yet: the candidate alone is checked and becomes it\n`);
  let recording: string | null = null;
  const code = await check(candidate, options, signal, (path) => (recording = path));
  if (recording !== null) await updateBaseline(recording, path, null);
  return code;
}

/** Options that speak of one running server do not tell which of two is meant. */
function refuseShared(
  { baseline, candidate }: Record<'baseline' | 'candidate', Side>,
  options: CompareOptions,
): void {
  const option = options.pid !== undefined ? '--pid' : options.probeDir !== undefined ? '--probe-dir' : null;
  if (option === null || baseline.kind !== 'build' || candidate.kind !== 'build') return;
  throw new UsageError(
    `${option} speaks of one server, and two are measured here: check each of them on its own with --out, and compare the two recordings.`,
  );
}
