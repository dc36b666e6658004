/**
 * A comparison: both sides played alike and in turn, or taken over from a recording, in one recording.
 */
import { CASES } from '../cases/index.ts';
import type { Case, Size } from '../cases/case.ts';
import { carryOver, isWhole, originOf } from '../recording/carry.ts';
import type { Recording } from '../recording/reader.ts';
import type { ComparisonRecord } from '../recording/schema.ts';
import type { Build, PreparedBuild } from '../targets/target.ts';
import { measurePerformance } from './performance.ts';
import { DEFAULT_SEED, type RunOptions } from './run-options.ts';
import { run } from './run.ts';

/** What is compared: a build to be measured, or one that a recording holds. */
export type Side =
  | { readonly kind: 'build'; readonly build: Build }
  | { readonly kind: 'recording'; readonly recording: Recording; readonly build: string };

export interface CompareOptions extends Omit<
  RunOptions,
  'builds' | 'cases' | 'seed' | 'before' | 'next' | 'after'
> {
  readonly baseline: Side;
  readonly candidate: Side;
  /** Default: those of a side that is a recording, else all. */
  readonly cases?: readonly Case[];
  /** Default: that of a side that is a recording. */
  readonly seed?: number;
  /** null: speed is not compared. */
  readonly performance: ComparisonRecord['performance'];
}

/**
 * @returns the recording's path
 * @throws UsageError before anything is written, RecordingError when the recording cannot be written
 */
export function runComparison(options: CompareOptions): Promise<string> {
  const names = namesOf(options.baseline, options.candidate);
  const sides = [
    { side: options.baseline, name: names.baseline, prefix: 'baseline-' },
    { side: options.candidate, name: names.candidate, prefix: 'candidate-' },
  ];
  const measured = sides.flatMap(({ side, name }) =>
    side.kind === 'build' ? [named(side.build, name)] : [],
  );
  const { performance } = options;
  return run({
    ...options,
    ...workOf(options),
    builds: measured,
    before: (recorder) => {
      recorder.write(comparisonRecord(options, names));
      const cases = options.cases?.map(({ id }) => id);
      for (const { side, name, prefix } of sides)
        if (side.kind === 'recording')
          // What was not asked for is not compared, and not missed on the other side.
          carryOver(recorder, side.recording, {
            build: side.build,
            as: name,
            prefix,
            ...(cases && { cases }),
          });
    },
    // Speed compares within one run only: another day's machine is another machine.
    ...(performance !== null &&
      measured.length === sides.length && {
        after: (played) => measurePerformance(played, performance),
      }),
  });
}

type Names = Pick<ComparisonRecord, 'baseline' | 'candidate'>;

/** A build against itself, or against an earlier recording of it, needs two names. */
export function namesOf(baseline: Side, candidate: Side): Names {
  const [was, is] = [nameOf(baseline), nameOf(candidate)];
  return was === is
    ? { baseline: `${was} (baseline)`, candidate: `${is} (candidate)` }
    : { baseline: was, candidate: is };
}

const SUFFIX = / \((baseline|candidate)\)$/;

const nameOf = (side: Side): string =>
  (side.kind === 'build' ? side.build.name : side.build).replace(SUFFIX, '');

function named(build: Build, name: string): Build {
  if (build.name === name) return build;
  const renamed = async (...given: Parameters<Build['prepare']>): Promise<PreparedBuild> => {
    const prepared = await build.prepare(...given);
    return { ...prepared, record: { ...prepared.record, build: name } };
  };
  return { name, admit: () => build.admit(), prepare: renamed };
}

function comparisonRecord(options: CompareOptions, names: Names): Omit<ComparisonRecord, 't'> {
  const origin = (side: Side) => (side.kind === 'recording' ? originOf(side.recording) : null);
  return {
    type: 'comparison',
    ...names,
    origins: { baseline: origin(options.baseline), candidate: origin(options.candidate) },
    performance: options.performance,
  };
}

/**
 * The work of a side that was played before is what the other one has to be given, too. What a recording that was cut
 * has lost of it is not known: then every case is played.
 */
function workOf(options: CompareOptions): Pick<RunOptions, 'cases' | 'sizes' | 'seed'> {
  const played = [options.baseline, options.candidate].find((side) => side.kind === 'recording');
  if (!played) return { cases: options.cases ?? CASES, seed: options.seed ?? DEFAULT_SEED };
  const arms = played.recording.arms.map((events) => events.arm).filter((arm) => arm.build === played.build);
  const sizes: Record<string, Size> = Object.fromEntries(arms.map((arm) => [arm.case, arm.size]));
  return {
    cases: options.cases ?? CASES.filter(({ id }) => !isWhole(played.recording) || Object.hasOwn(sizes, id)),
    seed: options.seed ?? originOf(played.recording).seed,
    sizes,
  };
}
