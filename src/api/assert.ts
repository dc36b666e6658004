/** assertReleases: for tests. */
import type { Report } from '../verdict/schema.ts';
import { measured } from './check.ts';
import { explain } from './message.ts';
import { checkedAssertion, type AssertOptions } from './options.ts';
import type { Target } from './target.ts';

/** A server keeps what it should let go of, ends what it should keep, or could not be measured. */
export class RetentionError extends Error {
  override name = 'RetentionError';
  /** The whole report. Not enumerable: test runners print what is. */
  declare readonly report: Report;
  /** The recording's path. */
  declare readonly recording: string;
  /** As Node.js' own assertions have it. */
  declare readonly code: 'ERR_ASSERTION';

  constructor(message: string, report: Report, recording: string) {
    super(message);
    hide(this, { report, recording, code: 'ERR_ASSERTION', name: this.name });
  }
}

function hide(error: Error, values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(error, name, { value, enumerable: false, configurable: true, writable: true });
}

/**
 * Measures a target and throws where a claim fails, or where a promised claim could not be measured.
 * @throws RetentionError with what was claimed, expected and observed, and why; its recording is kept. Otherwise as
 * `check` does.
 */
export function assertReleases(target: Target, options: AssertOptions = {}): Promise<Report> {
  // Taken here: after the first wait the caller's own line is lost.
  const caller: { stack?: string } = {};
  Error.captureStackTrace(caller, assertReleases);
  return assertion(target, options, caller.stack ?? '');
}

async function assertion(target: Target, options: AssertOptions, stack: string): Promise<Report> {
  const { allowUndecided, ...checked } = checkedAssertion(options);
  const { report, recording, discard, keep } = await measured(target, checked);
  if (report.verdict === 'pass' || (report.verdict === 'inconclusive' && allowUndecided)) {
    discard();
    return report;
  }
  keep();
  const error = new RetentionError(explain(report, recording), report, recording);
  hide(error, { stack: `${error.name}: ${error.message}\n${stack.split('\n').slice(1).join('\n')}` });
  throw error;
}
