/** compare: the release check. */
import { runComparison, type Side } from '../run/compare.ts';
import { recordingPath, sideOf } from '../run/side.ts';
import type { Report } from '../verdict/schema.ts';
import { UsageError } from '../targets/target.ts';
import { chosen } from './check.ts';
import { measurement } from './measurement.ts';
import { checkedComparison, performanceOf, type CheckedComparison, type CompareOptions } from './options.ts';
import { buildOf, type Target } from './target.ts';

/**
 * Measures both alike and in turn, and judges what got worse. Either may be the recording of an earlier run: the
 * path of its file or folder, with `#BUILD` where it holds several.
 * @throws as `check` does, and UnreadableRecording where a recording is none
 */
export async function compare(
  baseline: Target,
  candidate: Target,
  options: CompareOptions = {},
): Promise<Report> {
  const checked = checkedComparison(options);
  if (isRecording(baseline) && isRecording(candidate)) refuseUnread(options);
  refuseShared(baseline, candidate, checked);
  const { report, discard } = await measurement(checked, async (common, probeDir) => {
    const side = (target: Target): Promise<Side> => sideFrom(target, checked, probeDir);
    const cases = chosen(checked);
    return runComparison({
      ...common,
      baseline: await side(baseline),
      candidate: await side(candidate),
      ...(cases !== undefined && { cases }),
      ...(checked.seed !== undefined && { seed: checked.seed }),
      performance: performanceOf(checked),
    });
  });
  discard();
  return report;
}

const isRecording = (target: Target): boolean => typeof target === 'string' && recordingPath(target) !== null;

async function sideFrom(
  target: Target,
  options: CheckedComparison,
  probeDir: string | undefined,
): Promise<Side> {
  const resolve = (one: Target): Side & { kind: 'build' } => ({
    kind: 'build',
    build: buildOf(one, options, probeDir),
  });
  return typeof target === 'string'
    ? sideOf(target, [], (text) => resolve(text).build, options.signal)
    : resolve(target);
}

/** What only a measurement has a use for: between two recordings it would be left out without a word. */
const MEASURING = [
  'registry',
  'probeDir',
  'pid',
  'headers',
  'allowHosts',
  'sessions',
  'concurrency',
  'seed',
] as const;

function refuseUnread(options: CompareOptions): void {
  const option = MEASURING.find((one) => options[one] !== undefined);
  if (option !== undefined)
    throw new UsageError(`${option} is for what is measured, and both sides are recordings: leave it out.`);
}

/** What speaks of one running server does not tell which of two is meant. */
function refuseShared(baseline: Target, candidate: Target, options: CheckedComparison): void {
  const shared = (['registry', 'probeDir', 'pid'] as const).find((option) => options[option] !== undefined);
  if (shared === undefined || isRecording(baseline) || isRecording(candidate)) return;
  throw new UsageError(
    `${shared} speaks of one server, and two are measured here: check each with out, and compare the two recordings.`,
  );
}
