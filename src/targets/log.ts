/**
 * Reading a program's log file: new lines while it starts, its last lines when it has ended.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const TAIL_LINES = 20;
const TAIL_BYTES = 16_384;
const LINE_CHARACTERS = 300;

/** What a log may hold and a report may not: session ids, bearer tokens, passwords in URLs. */
const SECRETS: readonly [RegExp, string][] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '[id]'],
  [/\b[0-9a-f]{24,}\b/gi, '[id]'],
  [/\b(bearer|basic)\s+[\w.~+/=-]+/gi, '$1 [secret]'],
  [/(mcp-session-id['"]?\s*[:=,]\s*)\S+/gi, '$1[id]'],
  [/:\/\/[^/\s@]+@/g, '://[secret]@'],
];

/** A line with what looks like a session id, a token or a password taken out. */
export function redact(line: string): string {
  return SECRETS.reduce((text, [pattern, by]) => text.replace(pattern, by), line);
}

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
