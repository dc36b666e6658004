/** A side of a comparison as it is written: a recording's path, or anything that can be measured. */
import { statSync } from 'node:fs';
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

/** Does the text name a recording: `FILE.ndjson`, a run's folder, either with `#BUILD`? Else null. */
export function recordingPath(text: string): RecordingPath | null {
  const match = /^(?<place>.+?)(#(?<build>.+))?$/.exec(text)?.groups;
  const place = match?.place;
  if (place === undefined || /^[a-z][a-z0-9+.-]+:/i.test(place)) return null;
  const build = match?.build ?? null;
  const there = statSync(place, { throwIfNoEntry: false });
  if (there?.isDirectory() === true) return { path: join(place, RECORDING_FILE), build };
  // A path that is not there is still one: the sentence says then that there is no such recording.
  return place.endsWith('.ndjson') || there?.isFile() === true ? { path: place, build } : null;
}

/**
 * @param names of targets in the configuration, which go before a file of the same name
 * @param resolve makes a build of what is no recording
 * @throws UsageError, UnreadableRecording in one sentence
 */
export async function sideOf(
  text: string,
  names: readonly string[],
  resolve: (text: string) => Build,
): Promise<Side> {
  const place = names.includes(text) ? null : recordingPath(text);
  if (!place) return { kind: 'build', build: resolve(text) };
  const recording = await readRecording(place.path);
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
  return { kind: 'recording', recording, build };
}
