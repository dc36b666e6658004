/** Where results go: looked at before anything is measured, so that no run is lost to a wrong path. */
import {
  closeSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf, isFull, reasonOf } from '../errno.ts';
import { RECORDING_FILE, RecordingError } from '../recording/writer.ts';
import { FORMAT_NAMES, type Format } from '../report/formats.ts';
import { UsageError } from '../targets/target.ts';

/** Where a report is written besides: a path for each format that was asked for. */
export type ReportPaths = { readonly [F in Format]?: string };

export const recordingIn = (out: string): string => join(out, RECORDING_FILE);
export const logsIn = (out: string): string => join(out, 'logs');

/**
 * A run can be recorded in the folder, which may be made then.
 * @throws UsageError; RecordingError where the disk is full
 */
export function checkOut(out: string): void {
  if (out === '') throw new UsageError('--out names no folder: give its path.');
  const recording = recordingIn(out);
  attempt(`--out ${out} cannot be used`, 'name a folder that can be written in', () => {
    if (lstatSync(recording, { throwIfNoEntry: false }) !== undefined)
      throw new UsageError(`${recording} is there already and is kept: name another folder in --out.`);
    tryMaking(logsIn(out));
  });
}

/**
 * Files can be written in the folder, which may be made then.
 * @throws UsageError; RecordingError where the disk is full
 */
export function checkFolder(option: string, folder: string): void {
  attempt(`${option} ${folder} cannot be used`, 'name a folder that can be written in', () =>
    tryMaking(folder),
  );
}

/** Made and removed, because only the system knows: permissions alone do not tell of /proc. */
function tryMaking(folder: string): void {
  rmdirSync(mkdtempSync(join(nearest(folder), '.mcpr-')));
}

/** The folder itself, or the deepest above it that is there. */
function nearest(folder: string): string {
  for (let path = resolve(folder); ; path = dirname(path)) if (exists(path)) return path;
}

function exists(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return false;
    throw error;
  }
}

/**
 * Reports can be written there.
 * @param recording where the recording is or will be: its folder need not be there yet; null: there is none
 * @throws UsageError; RecordingError where the disk is full
 */
export function checkReports(paths: ReportPaths, recording: string | null): void {
  const named = new Map<string, Format>();
  for (const format of FORMAT_NAMES) {
    const path = paths[format];
    if (path === undefined) continue;
    checkReport(`--${format}`, path, recording);
    const other = named.get(resolve(path));
    if (other !== undefined)
      throw new UsageError(`--${other} and --${format} both name ${path}: name two files.`);
    named.set(resolve(path), format);
  }
}

/**
 * No report is written over a recording that is read.
 * @throws UsageError
 */
export function checkKept(paths: ReportPaths, recording: string): void {
  for (const format of FORMAT_NAMES) {
    const path = paths[format];
    if (path !== undefined && realOf(path) === realOf(recording))
      throw new UsageError(
        `--${format} ${path} is a recording that is compared, which is kept: name another file.`,
      );
  }
}

/** @throws UsageError; RecordingError where the disk is full */
export function checkWritable(what: string, path: string): void {
  attempt(`${what} ${path} cannot be written`, 'name a file in a folder that is there', () => {
    if (statOf(path)?.isFile() === false)
      throw new UsageError(`${what} ${path} is no file: name one, such as baseline.ndjson.`);
    tryBeside(path);
  });
}

function tryBeside(path: string): void {
  const trial = besides(path);
  closeSync(openSync(trial, 'w'));
  unlinkSync(trial);
}

function checkReport(option: string, path: string, recording: string | null): void {
  if (path === '') throw new UsageError(`${option} names no file: give its path.`);
  attempt(`${option} ${path} cannot be written`, 'name a file in a folder that is there', () => {
    const there = statOf(path);
    if (there?.isDirectory() === true || /[/\\]$/.test(path))
      throw new UsageError(`${option} ${path} is a folder: name a file in it.`);
    if (recording !== null && realOf(path) === realOf(recording))
      throw new UsageError(`${option} ${path} is the recording, which is kept: name another file.`);
    if (there?.isFile() === false || (recording !== null && isSoon(path, recording))) return;
    tryBeside(path);
  });
}

/** In the folder of a recording that is made with it. */
const isSoon = (path: string, recording: string): boolean => {
  const folder = dirname(resolve(recording));
  return !exists(folder) && [folder, logsIn(folder)].includes(dirname(resolve(path)));
};

const statOf = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false });

/** Where the path leads by symbolic links, also where nothing is there yet. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const link = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return link ? resolve(dirname(path), readlinkSync(path)) : resolve(path);
  }
}

const besides = (path: string): string => join(dirname(realOf(path)), `.mcpr-${process.pid}.tmp`);

function attempt(what: string, mend: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (isFull(error)) throw new RecordingError(`${what}: ${reasonOf(error)}: free some space.`);
    throw new UsageError(`${what}: ${reasonOf(error)}: ${mend}.`);
  }
}

/**
 * Writes a file whole or not at all: a reader never finds a part of it, an earlier one stays until then.
 * @param what stands in the sentence before the path
 * @throws RecordingError
 */
export function writeWhole(what: string, path: string, content: string | Uint8Array): void {
  const there = statOf(path);
  const temporary = besides(path);
  try {
    // A pipe or a device takes what it is given.
    if (there?.isFile() === false) {
      writeFileSync(path, content);
      return;
    }
    writeFileSync(temporary, content, { ...(there && { mode: there.mode & 0o777 }) });
    renameSync(temporary, realOf(path));
  } catch (error) {
    remove(temporary);
    throw new RecordingError(`cannot write ${what} ${path}: ${reasonOf(error)}.`);
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It was never made.
  }
}
