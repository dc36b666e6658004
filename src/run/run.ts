/**
 * A measurement: builds prepared, arms played, everything recorded.
 */
import { setMaxListeners } from 'node:events';
import { mkdirSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Case, Size } from '../cases/case.ts';
import { RECORDING_SCHEMA, type HeaderRecord } from '../recording/schema.ts';
import { RecordingError, RecordingWriter, type Recorder } from '../recording/writer.ts';
import type { Build, PreparedBuild } from '../targets/target.ts';
import type { Logger } from '../log.ts';
import { TOOL } from '../version.ts';
import type { OnProgress } from './events.ts';
import { playAll, prepareAll, SAMPLE_EVERY_MS } from './play.ts';

export interface RunOptions {
  readonly builds: readonly Build[];
  readonly cases: readonly Case[];
  /** Replaces a case's own sessions and concurrency where given. */
  readonly size: Partial<Pick<Size, 'sessions' | 'concurrency'>>;
  readonly seed: number;
  /** Folder for the recording and the servers' logs; made when absent. */
  readonly out: string;
  readonly policy: HeaderRecord['policy'];
  readonly probeDir: string | null;
  readonly requireProbe: boolean;
  /** The command line as it was given, without secrets. */
  readonly command: string;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
  readonly log: Logger;
  /** Claims whose failure is allowed, with the reason. */
  readonly allow?: Readonly<Record<string, string>>;
  /** Writes what is known before anything is measured: what is compared, or swept. */
  readonly before?: (recorder: Recorder) => void;
  /** After all given builds were played: further ones, or none. Called again after those. */
  readonly next?: (played: Played) => Promise<readonly Build[]>;
  /** After the last arm, with everything still at hand. */
  readonly after?: (played: Played) => Promise<void>;
}

/** What a run has done so far. */
export interface Played {
  readonly options: RunOptions;
  /** Builds that could be prepared. */
  readonly builds: readonly PreparedBuild[];
  readonly recorder: Recorder;
  /** The recording's path: everything written so far stands in it. */
  readonly recording: string;
  /** Also aborted where the recording cannot be written on. */
  readonly signal: AbortSignal;
}

/**
 * @returns the recording's path
 * @throws UsageError before anything is written, RecordingError when the recording cannot be written
 */
export async function run(options: RunOptions): Promise<string> {
  for (const build of options.builds) await build.admit();
  const writer = openRecording(options);
  const full = new AbortController();
  writer.onFailure = (error) => full.abort(error);
  const signal = AbortSignal.any([options.signal, full.signal]);
  // Every session that waits listens to it.
  setMaxListeners(0, signal);
  let reason: 'complete' | 'interrupted' | 'failed' = 'failed';
  try {
    await measureAll({ ...options, signal }, writer);
    reason = options.signal.aborted ? 'interrupted' : 'complete';
  } finally {
    writer.end(reason);
  }
  if (full.signal.aborted) throw full.signal.reason as RecordingError;
  return writer.path;
}

async function measureAll(options: RunOptions, writer: RecordingWriter): Promise<void> {
  options.before?.(writer);
  const builds: PreparedBuild[] = [];
  const { signal } = options;
  const played: Played = { options, builds, recorder: writer, recording: writer.path, signal };
  let wanted = options.builds;
  while (wanted.length > 0) {
    const prepared = await prepareAll(options, writer, wanted);
    await playAll(options, writer, prepared, builds.length * options.cases.length);
    builds.push(...prepared);
    writer.flush();
    wanted = signal.aborted ? [] : ((await options.next?.(played)) ?? []);
  }
  if (!signal.aborted) await options.after?.(played);
}

function openRecording(options: RunOptions): RecordingWriter {
  try {
    mkdirSync(join(options.out, 'logs'), { recursive: true });
  } catch (error) {
    throw new RecordingError(`cannot make the folder ${options.out}: ${(error as Error).message}`);
  }
  return new RecordingWriter(join(options.out, 'recording.ndjson'), {
    type: 'header',
    schema: RECORDING_SCHEMA,
    tool: TOOL,
    host: {
      os: `${platform()} ${release()}`,
      arch: arch(),
      cpus: cpus().length,
      memoryBytes: totalmem(),
      node: process.version,
    },
    startedAt: new Date().toISOString(),
    command: options.command,
    seed: options.seed,
    policy: options.policy,
    sampleEveryMs: SAMPLE_EVERY_MS,
    ...(options.allow && Object.keys(options.allow).length > 0 && { allow: options.allow }),
  });
}

