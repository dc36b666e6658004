/**
 * The lines of a file that may be damaged: of any length, with any bytes. A line is never held that is longer than
 * any record.
 */
import { inputOf } from '../input.ts';

/** Far longer than any record: what is longer is none. */
export const MOST_LINE_BYTES = 8 * 2 ** 20;

const NEWLINE = 0x0a;

/** Called with each line in its order, without its newline; null: it is too long. */
export type TakeLine = (line: string | null) => void;

export async function eachLine(path: string, take: TakeLine, signal?: AbortSignal): Promise<void> {
  const lines = new LineSplitter(take);
  for await (const chunk of inputOf(path, signal)) lines.push(chunk as Buffer);
  lines.end();
}

/** Cuts bytes into lines of UTF-8. */
export class LineSplitter {
  readonly #take: TakeLine;
  /** The beginning of a line whose end has not come yet. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  /** The line that has begun was given already, as one that is too long. */
  #skipping = false;

  constructor(take: TakeLine) {
    this.#take = take;
  }

  push(chunk: Buffer): void {
    let end = chunk.indexOf(NEWLINE);
    if (end < 0) {
      this.#keep(chunk);
      return;
    }
    this.#keep(chunk.subarray(0, end));
    this.#finish();
    for (;;) {
      const begin = end + 1;
      end = chunk.indexOf(NEWLINE, begin);
      if (end < 0) {
        this.#keep(chunk.subarray(begin));
        return;
      }
      this.#take(chunk.toString('utf8', begin, end));
    }
  }

  /** What stands after the last newline is a line, too. */
  end(): void {
    if (this.#begunBytes > 0 || this.#skipping) this.#finish();
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0 || this.#skipping) return;
    this.#begun.push(bytes);
    this.#begunBytes += bytes.length;
    if (this.#begunBytes <= MOST_LINE_BYTES) return;
    this.#skipping = true;
    this.#begun = [];
    this.#take(null);
  }

  #finish(): void {
    if (!this.#skipping) this.#take(Buffer.concat(this.#begun).toString('utf8'));
    this.#skipping = false;
    this.#begun = [];
    this.#begunBytes = 0;
  }
}
