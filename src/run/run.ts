/**
 * A measurement: builds prepared, arms played, everything recorded.
 */
import { setMaxListeners } from 'node:events';
import { mkdirSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Case, Size } from '../cases/case.ts';
import { RECORDING_SCHEMA, type HeaderRecord } from '../recording/schema.ts';
import { RecordingError, RecordingWriter } from '../recording/writer.ts';
import { TargetError, type Build, type PreparedBuild } from '../targets/target.ts';
import { TOOL } from '../version.ts';
import { runArm } from './arm.ts';
import type { OnProgress } from './events.ts';

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
}

const SAMPLE_EVERY_MS = 100;
/** Arms at a time: waiting for expiry costs nothing, and counts do not depend on speed. */
const ARMS_AT_A_TIME = 4;
const INSTALLS_AT_A_TIME = 4;

/**
 * @returns the recording's path
 * @throws RecordingError when the recording cannot be written
 */
export async function run(options: RunOptions): Promise<string> {
  const writer = openRecording(options);
  const full = new AbortController();
  writer.onFailure = (error) => full.abort(error);
  const signal = AbortSignal.any([options.signal, full.signal]);
  // Every session that waits listens to it.
  setMaxListeners(0, signal);
  let reason: 'complete' | 'interrupted' | 'failed' = 'failed';
  try {
    const builds = await prepareAll({ ...options, signal }, writer);
    await playAll({ ...options, signal }, writer, builds);
    reason = options.signal.aborted ? 'interrupted' : 'complete';
  } finally {
    writer.end(reason);
  }
  if (full.signal.aborted) throw full.signal.reason as RecordingError;
  return writer.path;
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
  });
}

/** Builds that cannot be prepared are noticed and left out; the others are measured. */
async function prepareAll(options: RunOptions, writer: RecordingWriter): Promise<PreparedBuild[]> {
  const limit = pLimit(INSTALLS_AT_A_TIME);
  const prepared = await Promise.all(
    options.builds.map((build) =>
      limit(async () => {
        try {
          return await build.prepare(options.signal, (text) =>
            options.onProgress({ kind: 'install', build: build.name, text }),
          );
        } catch (error) {
          if (!(error instanceof TargetError)) throw error;
          return { name: build.name, error };
        }
      }),
    ),
  );
  return prepared.flatMap((result) => {
    if ('error' in result) return refuse(options, writer, result.name, result.error);
    writer.write({ type: 'build', ...result.record });
    return [result];
  });
}

/** Its cases stand in the recording as promised and unmeasured, so that the run is undecided. */
function refuse(options: RunOptions, writer: RecordingWriter, name: string, error: TargetError): [] {
  writer.write({
    type: 'build',
    build: name,
    kind: /^https?:/.test(name) ? 'url' : 'python',
    sdk: null,
    version: null,
    packages: {},
    config: {},
    abilities: { probe: false, pid: false, settings: [] },
  });
  options.cases.forEach((definition, index) => {
    const arm = `${name}#${index}`;
    const { size, claims } = definition;
    writer.write({
      type: 'arm',
      arm,
      build: name,
      case: definition.id,
      settings: {},
      lacks: [],
      size,
      promised: [...claims],
      notPromised: [],
    });
    const outcome = options.signal.aborted ? 'interrupted' : 'failed';
    writer.write({
      type: 'arm-end',
      arm,
      outcome,
      reason: options.signal.aborted ? 'the run was interrupted' : error.message,
    });
    options.onProgress({ kind: 'arm-end', build: name, case: definition.id, failure: error.message });
  });
  return [];
}

/** Case by case, all builds of one case close together, so that they meet the same machine. */
async function playAll(
  options: RunOptions,
  writer: RecordingWriter,
  builds: readonly PreparedBuild[],
): Promise<void> {
  const limit = pLimit(ARMS_AT_A_TIME);
  let number = 0;
  const arms = options.cases.flatMap((definition) =>
    builds.map((build) => {
      const arm = `a${++number}`;
      return limit(async () => {
        if (options.signal.aborted) return;
        const size: Size = { ...definition.size, ...options.size };
        await runArm({
          arm,
          build,
          definition,
          size,
          seed: options.seed,
          recorder: writer,
          sampleEveryMs: SAMPLE_EVERY_MS,
          logDir: join(options.out, 'logs'),
          probeDir: options.probeDir,
          requireProbe: options.requireProbe,
          signal: options.signal,
          onProgress: options.onProgress,
        });
      });
    }),
  );
  await Promise.all(arms);
}
