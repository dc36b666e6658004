/** A side of a comparison as it is written: a recording's path, or anything that can be measured. */
import { statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { standingBuild } from '../recording/carry.ts';
import { readRecording } from '../recording/reader.ts';
import { RECORDING_FILE } from '../recording/writer.ts';
import { UsageError, type Build } from '../targets/target.ts';
import type { Side } from './compare.ts';

interface RecordingPath {
  readonly path: string;
  /** Which of its builds, as written after `#`. */
  readonly build: string | null;
}

/** Does the text name a recording: `FILE.ndjson`, any other file or pipe, a run's folder, each with `#BUILD`? Else null. */
export function recordingPath(text: string): RecordingPath | null {
  const match = /^(?<place>.+?)(#(?<build>.+))?$/.exec(text)?.groups;
  const place = match?.place;
  if (place === undefined || /^[a-z][a-z0-9+.-]+:/i.test(place)) return null;
  const build = match?.build ?? null;
  const there = statOf(place);
  if (there?.isDirectory() === true) return { path: join(place, RECORDING_FILE), build };
  // A path that is not there is still one: the sentence says then that there is no such recording.
  return place.endsWith('.ndjson') || there !== undefined ? { path: place, build } : null;
}

/** Whatever keeps it from being looked at (a file for a folder, a name too long), it is no recording then. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/**
 * @param names of targets in the configuration, which go before a file of the same name
 * @param resolve makes a build of what is no recording
 * @param signal ends the reading
 * @throws UsageError, UnreadableRecording in one sentence; the signal's reason
 */
export async function sideOf(
  text: string,
  names: readonly string[],
  resolve: (text: string) => Build,
  signal?: AbortSignal,
): Promise<Side> {
  const place = names.includes(text) ? null : recordingPath(text);
  if (!place) return { kind: 'build', build: resolve(text) };
  const recording = await readRecording(place.path, signal);
  const held = recording.builds.map((build) => build.build);
  if (held.length === 0)
    throw new UsageError(`${place.path} holds no build: it was cut before one was begun.`);
  const build = place.build ?? standingBuild(recording);
  if (build === null)
    throw new UsageError(
      `${place.path} holds ${held.length} builds: write which one after it, as ${place.path}#${held[0] ?? ''} (${held.join(', ')}).`,
    );
  if (!held.includes(build))
    throw new UsageError(`${place.path} holds no build ${build}: it holds ${held.join(', ')}.`);
  if (!recording.arms.some(({ arm }) => arm.build === build))
    throw new UsageError(`${place.path} holds no case of ${build}: it was cut before one was begun.`);
  return { kind: 'recording', recording, build };
}
