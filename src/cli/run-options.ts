/** What every command that measures does alike: looks at its options, shows progress, and hands them to the run. */
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { createLogger } from '../log.ts';
import type { HeaderRecord } from '../recording/schema.ts';
import type { CommonRunOptions } from '../run/run-options.ts';
import { isPackage, resolveTarget } from '../targets/resolve.ts';
import { UsageError, type Build } from '../targets/target.ts';
import { checkAllowances } from './allow.ts';
import { serveLive } from './live.ts';
import type { MeasureOptions, TargetOptions } from './options.ts';
import { checkOut, checkReports, recordingIn } from './places.ts';
import { progressView } from './progress.ts';
import { redactedCommand } from './redact.ts';

export interface Measuring {
  readonly options: MeasureOptions;
  readonly config: Config;
  readonly signal: AbortSignal;
  /** How many arms there will be, for the progress; further ones may be found on the way. */
  readonly arms: number;
}

/**
 * @param play measures, and resolves with the recording's path
 * @throws UsageError before anything is written
 */
export async function measuring(
  { options, config, signal, arms }: Measuring,
  play: (common: CommonRunOptions) => Promise<string>,
): Promise<string> {
  const out = options.out ?? defaultOut();
  checkOut(out);
  checkReports(options, recordingIn(out));
  checkAllowances(config, options.config);
  const live = options.live === undefined ? null : await serveLive(options.live, recordingIn(out), signal);
  if (live !== null) process.stderr.write(`live       ${live.url}\n`);
  const view = progressView(process.stderr, arms);
  try {
    return await play({
      size: {
        ...(options.sessions !== undefined && { sessions: options.sessions }),
        ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
      },
      out,
      policy: policyOf(config),
      allow: config.allow,
      probeDir: options.probeDir ?? null,
      requireProbe: options.requireProbe === true,
      command: redactedCommand(process.argv.slice(2)),
      signal,
      onProgress: view.onProgress,
      log: createLogger(options.logLevel),
    });
  } finally {
    view.close();
    await live?.close();
  }
}

/** Makes builds of what the user wrote. */
export function resolver(
  config: Config,
  { probeDir }: MeasureOptions,
  target: TargetOptions,
): (text: string) => Build {
  return (text) =>
    resolveTarget(text, {
      config,
      allowHosts: target.allowHost ?? [],
      ...(target.pid !== undefined && { pid: target.pid }),
      headers: target.header ?? {},
      ...(probeDir !== undefined && { probeDir }),
    });
}

/**
 * What a package has no use for would be left out without a word.
 * @throws UsageError where no target is there that an option could speak of
 */
export function refuseUnused(
  targets: readonly string[],
  config: Config,
  { header, allowHost }: TargetOptions,
): void {
  const option = header !== undefined ? '--header' : allowHost !== undefined ? '--allow-host' : null;
  if (option !== null && targets.every((text) => isPackage(text, config)))
    throw new UsageError(
      `${option} goes with a server that is not this tool's own: ${targets.join(', ')} is served on loopback and takes no headers.`,
    );
}

const policyOf = ({ policy }: Config): HeaderRecord['policy'] => ({
  idleMaxSeconds: policy.idleMax ?? null,
  maxSessions: policy.maxSessions ?? null,
});

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
