/** check: one build, its claims. */
import { CASES } from '../cases/index.ts';
import type { Case } from '../cases/case.ts';
import { DEFAULT_SEED } from '../run/run-options.ts';
import { run } from '../run/run.ts';
import type { Report } from '../verdict/schema.ts';
import { measurement, type Measurement } from './measurement.ts';
import { checkedOptions, type Checked, type CheckOptions } from './options.ts';
import { buildOf, type Target } from './target.ts';

/**
 * Measures a target and judges it.
 * @throws UsageError where target or options are wrong, RecordingError where nothing can be recorded, the signal's
 * reason where it was aborted. A target that does not start is no error: its report is `inconclusive`.
 */
export async function check(target: Target, options: CheckOptions = {}): Promise<Report> {
  const { report, discard } = await measured(target, checkedOptions(options));
  discard();
  return report;
}

/** Measures; what was recorded stays until it is discarded. */
export const measured = (target: Target, options: Checked): Promise<Measurement> =>
  measurement(options, (common, probeDir) =>
    run({
      ...common,
      builds: [buildOf(target, options, probeDir)],
      cases: chosen(options) ?? CASES,
      seed: options.seed ?? DEFAULT_SEED,
    }),
  );

export const chosen = ({ cases }: Checked): readonly Case[] | undefined =>
  cases && CASES.filter(({ id }) => cases.includes(id));
