/**
 * A measurement: builds prepared, arms played, everything recorded.
 */
import { setMaxListeners } from 'node:events';
import { mkdirSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { RECORDING_SCHEMA } from '../recording/schema.ts';
import { RECORDING_FILE, RecordingError, RecordingWriter } from '../recording/writer.ts';
import type { PreparedBuild } from '../targets/target.ts';
import { TOOL } from '../version.ts';
import { playAll, prepareAll, SAMPLE_EVERY_MS } from './play.ts';
import type { Played, RunOptions } from './run-options.ts';

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
  return new RecordingWriter(join(options.out, RECORDING_FILE), {
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
