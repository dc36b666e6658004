/**
 * Reading a program's log file: new lines while it starts, its last lines when it has ended.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { redact } from './secrets.ts';

const TAIL_LINES = 20;
const TAIL_BYTES = 16_384;
const LINE_CHARACTERS = 300;

function readFrom(file: string, start: (size: number) => number): { text: string; end: number } {
  const fd = openSync(file, 'r');
  try {
    const size = fstatSync(fd).size;
    const from = Math.min(Math.max(start(size), 0), size);
    const buffer = Buffer.alloc(size - from);
    const read = readSync(fd, buffer, 0, buffer.length, from);
    return { text: buffer.toString('utf8', 0, read), end: from + read };
  } finally {
    closeSync(fd);
  }
}

/** A log file from `start` (bytes) on. */
export class LogReader {
  readonly #file: string;
  readonly #start: number;
  #position: number;
  #rest = '';

  constructor(file: string, start: number) {
    this.#file = file;
    this.#start = start;
    this.#position = start;
  }

  /** Whole lines written since the last call. */
  next(): string[] {
    const { text, end } = readFrom(this.#file, () => this.#position);
    this.#position = end;
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines;
  }

  /** The last 20 lines, redacted and shortened. */
  tail(): string[] {
    const { text } = readFrom(this.#file, (size) => Math.max(this.#start, size - TAIL_BYTES));
    return text
      .split('\n')
      .map((line) => line.trimEnd())
      .filter((line) => line !== '')
      .slice(-TAIL_LINES)
      .map((line) => redact(line).slice(0, LINE_CHARACTERS));
  }
}
