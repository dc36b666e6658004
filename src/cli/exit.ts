/** Exit codes, and which error means which. */
import { CommanderError } from 'commander';
import { ConfigError } from '../config/load.ts';
import { PrometheusError } from '../prometheus/client.ts';
import { UnreadableRecording } from '../recording/reader.ts';
import { RecordingError } from '../recording/writer.ts';
import { notMeasured } from '../report/timeline-text.ts';
import { TargetError, UsageError } from '../targets/target.ts';
import type { Report } from '../verdict/schema.ts';

/** 0 every promised claim passed. 1 a claim failed. 2 the command or configuration is wrong. 3 undecided. */
export type ExitCode = 0 | 1 | 2 | 3;

export const USAGE = 2;
export const UNDECIDED = 3;

const CODES: Record<Report['verdict'], ExitCode> = { pass: 0, fail: 1, inconclusive: UNDECIDED };

/** A sweep shows and does not judge: what counts is whether every version was measured. */
export function exitCodeOf(report: Report): ExitCode {
  if (report.timeline === null) return CODES[report.verdict];
  return report.complete && notMeasured(report).length === 0 ? 0 : UNDECIDED;
}

/** The code of an error that is one sentence for people; null for a defect of ours, which needs its stack. */
export function exitCodeOfError(error: unknown): ExitCode | null {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  if (error instanceof UsageError || error instanceof ConfigError || error instanceof UnreadableRecording)
    return USAGE;
  if (error instanceof TargetError || error instanceof RecordingError || error instanceof PrometheusError)
    return UNDECIDED;
  return null;
}
