/** Server-sent events, read piece by piece (WHATWG HTML, section 9.2). */

export interface SseEvent {
  /** `message` where the event names no other. */
  readonly type: string;
  readonly data: string;
  /** The last id that the stream gave up to this event; '' where it gave none. */
  readonly lastEventId: string;
}

/**
 * Takes the text of a stream in chunks cut anywhere and gives the events complete so far. An event that the
 * stream leaves unfinished is never given. Never throws.
 */
export class SseParser {
  /** Milliseconds that the server asks to wait before reconnecting; null where it has not said. */
  retryMs: number | null = null;

  /** An expression of its own: it carries its position along. */
  readonly #lineEnds = /[\r\n]/g;
  #started = false;
  /** The last chunk ended with CR: a LF that follows belongs to it. */
  #afterCr = false;
  #line = '';
  #dataChars = 0;
  #data: string[] = [];
  #type = '';
  #id = '';

  /** Characters held for the event that is not complete yet: for a bound on memory. */
  get pending(): number {
    return this.#line.length + this.#dataChars;
  }

  push(chunk: string): SseEvent[] {
    const events: SseEvent[] = [];
    let at = this.#skip(chunk);
    for (let end = this.#lineEnd(chunk, at); end !== -1; end = this.#lineEnd(chunk, at)) {
      const event = this.#take(this.#line + chunk.slice(at, end));
      if (event !== null) events.push(event);
      this.#line = '';
      at = end + 1;
      if (chunk[end] !== '\r') continue;
      if (at === chunk.length) this.#afterCr = true;
      else if (chunk[at] === '\n') at += 1;
    }
    this.#line += chunk.slice(at);
    return events;
  }

  #lineEnd(text: string, from: number): number {
    this.#lineEnds.lastIndex = from;
    return this.#lineEnds.exec(text)?.index ?? -1;
  }

  /** How many characters at the start of a chunk are not content: a byte order mark, the LF of a cut CRLF. */
  #skip(chunk: string): number {
    if (chunk === '') return 0;
    if (!this.#started) {
      this.#started = true;
      return chunk.startsWith('\uFEFF') ? 1 : 0;
    }
    const skip = this.#afterCr && chunk.startsWith('\n') ? 1 : 0;
    this.#afterCr = false;
    return skip;
  }

  #take(line: string): SseEvent | null {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return null;
    if (colon === -1) this.#field(line, '');
    else this.#field(line.slice(0, colon), line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1)));
    return null;
  }

  #field(name: string, value: string): void {
    if (name === 'data') {
      this.#data.push(value);
      this.#dataChars += value.length + 1;
    } else if (name === 'event') this.#type = value;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^[0-9]+$/.test(value)) this.retryMs = Number(value);
  }

  #dispatch(): SseEvent | null {
    const type = this.#type === '' ? 'message' : this.#type;
    const lines = this.#data;
    this.#type = '';
    if (lines.length === 0) return null;
    this.#data = [];
    this.#dataChars = 0;
    return { type, data: lines.join('\n'), lastEventId: this.#id };
  }
}
