/** sweep: every published version of a package in a range; since which of them what is kept, until which. */
import type { Command } from 'commander';
import type { Size } from '../cases/case.ts';
import { CASES } from '../cases/index.ts';
import { loadConfig } from '../config/load.ts';
import { packageTarget } from '../config/schema.ts';
import { createLogger } from '../log.ts';
import { readRecording } from '../recording/reader.ts';
import type { SweepRecord, Untimed } from '../recording/schema.ts';
import { DEFAULT_SEED, type Played } from '../run/run-options.ts';
import { run } from '../run/run.ts';
import { pythonBuild } from '../targets/python.ts';
import { UsageError, type Build } from '../targets/target.ts';
import { parseRange, publishedVersions, versionsIn } from '../targets/versions.ts';
import { nextVersions } from '../verdict/bisect.ts';
import { buildOfVersion, fingerprintsOf } from '../verdict/timeline.ts';
import { verdict } from '../verdict/verdict.ts';
import { exitCodeOf, type ExitCode } from './exit.ts';
import { withMeasureOptions, type MeasureOptions } from './options.ts';
import { publish } from './publish.ts';
import { measuring } from './run-options.ts';

interface SweepOptions extends MeasureOptions {
  readonly versions: string;
  readonly bisect?: true;
  readonly stateless?: true;
}

const PACKAGE = 'python:mcp';
/** Counts are exact, so few sessions tell as much as many; no fewer than there are kinds of refused openings. */
const SESSIONS = 24;
const DEFAULT_CASES = ['delete', 'abandon', 'abandon-expiry', 'reject', 'over-cap'];
/** Of these, what can be asked of a server without sessions. */
const STATELESS_CASES = ['delete', 'abandon', 'reject'];
/** How many versions of a line a bisecting sweep measures, as a rule: for the progress. */
const FEW = 8;

export function sweepCommand(root: Command, signal: AbortSignal, done: (code: ExitCode) => void): void {
  withMeasureOptions(
    root
      .command('sweep')
      .description('every published version in a range: since which one what is kept, until which'),
  )
    .argument('<package>', PACKAGE)
    .requiredOption('--versions <range>', 'oldest and newest version, as in 1.8.0..2.2.0; both belong to it')
    .option('--bisect', 'measure only as many versions as it takes to find where they differ')
    .option('--stateless', 'start the servers stateless: then no request may leave anything behind')
    .addHelpText('after', HELP)
    .action(async (what: string, options: SweepOptions) => done(await sweep(what, options, signal)));
}

const HELP = `
Without --case: ${DEFAULT_CASES.join(', ')} (stateless: ${STATELESS_CASES.join(', ')}). Without --sessions: ${SESSIONS}, and no warm-up.
Pre-releases are measured where an end of the range is one.
Exit codes: 0 every version was measured (or lies between two that are the same), 2 the command is wrong, 3 not so.
A sweep shows and does not judge: a failed claim does not change the exit code.`;

async function sweep(what: string, options: SweepOptions, signal: AbortSignal): Promise<ExitCode> {
  if (what !== PACKAGE) throw new UsageError(`sweep knows no package ${what}: write ${PACKAGE}.`);
  const range = parseRange(options.versions);
  const config = await loadConfig(options.config, signal);
  const buildOf = (version: string): Build => versionBuild(version, options);
  // A range that begins too early is refused before the index is asked.
  buildOf(range.from);
  const log = createLogger(options.logLevel);
  const published = await publishedVersions('mcp', { signal, log: (line) => log.debug(line) });
  const record = recordOf(versionsIn(range, published), published.yanked, options);
  const cases = options.case ?? defaultCases(options);
  const first = record.mode === 'all' ? record.versions : nextVersions(record.versions, new Map());
  const expected =
    record.mode === 'all' ? first.length : Math.min(record.versions.length, FEW * first.length);
  const recording = await measuring({ options, config, signal, arms: expected * cases.length }, (common) =>
    run({
      ...common,
      builds: first.map(buildOf),
      cases,
      sizes: Object.fromEntries(cases.map(({ id, size }) => [id, smaller(size)])),
      seed: options.seed ?? DEFAULT_SEED,
      before: (recorder) => recorder.write(record),
      next: async (played) => (record.mode === 'all' ? [] : (await undecided(record, played)).map(buildOf)),
    }),
  );
  const report = await publish(recording, options);
  process.stdout.write('\nA sweep shows what each version keeps and does not judge.\n');
  return exitCodeOf(report);
}

function recordOf(
  versions: string[],
  yanked: ReadonlySet<string>,
  { bisect }: SweepOptions,
): Untimed<SweepRecord> {
  const back = versions.filter((version) => yanked.has(version));
  return {
    type: 'sweep',
    package: PACKAGE,
    versions,
    ...(back.length > 0 && { yanked: back }),
    mode: bisect === true ? 'bisect' : 'all',
  };
}

/** @throws UsageError for a version that is too old. */
function versionBuild(version: string, { stateless }: SweepOptions): Build {
  const name = buildOfVersion({ package: PACKAGE }, version);
  return pythonBuild(name, packageTarget.parse({ package: name, stateless: stateless === true }));
}

function defaultCases({ stateless }: SweepOptions) {
  const ids = stateless === true ? STATELESS_CASES : DEFAULT_CASES;
  return CASES.filter(({ id }) => ids.includes(id));
}

const smaller = (size: Size): Size => ({ ...size, sessions: Math.min(size.sessions, SESSIONS), warmUp: 0 });

/** Judges what was measured so far, and tells where versions that differ still have others between them. */
async function undecided(record: Untimed<SweepRecord>, { recording }: Played): Promise<string[]> {
  const { builds } = verdict(await readRecording(recording));
  return nextVersions(record.versions, fingerprintsOf(record, builds));
}
