/**
 * Writes a recording as the run goes on: append-only, a line a record, so that a cut run leaves a readable file.
 */
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { atLast } from '../cleanup.ts';
import { reasonOf } from '../errno.ts';
import type { EndRecord, HeaderRecord, RecordingRecord, Untimed } from './schema.ts';

/** The file's name in the folder of a run. */
export const RECORDING_FILE = 'recording.ndjson';

const FLUSH_BYTES = 64 * 1024;
const FLUSH_MS = 100;

/** The recording cannot be written (a full disk, a vanished folder): the run cannot go on. */
export class RecordingError extends Error {
  override name = 'RecordingError';
}

export interface Recorder {
  /** Milliseconds since the recording began. */
  now(): number;
  /** A performance.now() reading as a time of the recording. */
  at(performanceNow: number): number;
  write(record: Untimed<RecordingRecord>, t?: number): void;
}

const round = (ms: number): number => Math.round(ms * 100) / 100;

export class RecordingWriter implements Recorder {
  readonly path: string;
  /** Called once, when writing fails for the first time. */
  onFailure: ((error: RecordingError) => void) | undefined;
  readonly #origin = performance.now();
  readonly #fd: number;
  readonly #timer: NodeJS.Timeout;
  #buffer = '';
  #failed: RecordingError | null = null;
  #ended = false;
  readonly #forget: () => void;

  /** @throws RecordingError when the file cannot be made; an existing file is never overwritten. */
  constructor(path: string, header: HeaderRecord) {
    this.path = path;
    try {
      this.#fd = openSync(path, 'wx', 0o600);
    } catch (error) {
      throw new RecordingError(`cannot write the recording ${path}: ${reasonOf(error)}.`);
    }
    this.#buffer = JSON.stringify(header) + '\n';
    this.#timer = setInterval(() => this.flush(), FLUSH_MS);
    this.#timer.unref();
    this.flush();
    if (this.#failed) this.#giveUp(this.#failed);
    // Who does not wait for an orderly end gets a whole recording all the same.
    this.#forget = atLast(() => this.end('interrupted'));
  }

  now(): number {
    return performance.now() - this.#origin;
  }

  at(performanceNow: number): number {
    return Math.max(0, performanceNow - this.#origin);
  }

  write(record: Untimed<RecordingRecord>, t = this.now()): void {
    // Put in as text: a copy of every record would cost as much as writing it.
    this.#buffer += `${JSON.stringify(record).slice(0, -1)},"t":${round(t)}}\n`;
    if (this.#buffer.length >= FLUSH_BYTES) this.flush();
  }

  /** Writes the last line and closes the file; once. */
  end(reason: EndRecord['reason']): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#forget();
    this.write({ type: 'end', reason });
    clearInterval(this.#timer);
    this.flush();
    closeSync(this.#fd);
  }

  /** Not even the header could be written: what is there is no recording. */
  #giveUp(error: RecordingError): never {
    clearInterval(this.#timer);
    closeSync(this.#fd);
    unlinkSync(this.path);
    throw error;
  }

  /** Puts everything written so far into the file. */
  flush(): void {
    if (this.#failed || this.#buffer === '') return;
    try {
      // A short write (a disk that fills up) goes on where it stopped, and throws when nothing fits any more.
      for (let bytes = Buffer.from(this.#buffer); bytes.length > 0;)
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
      this.#buffer = '';
    } catch (error) {
      this.#failed = new RecordingError(`cannot go on writing ${this.path}: ${reasonOf(error)}.`);
      this.#buffer = '';
      this.onFailure?.(this.#failed);
    }
  }
}
