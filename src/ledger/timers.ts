/**
 * The ledger's timers, in the order of their times. Most become void before they are due, because every step of a
 * session starts its idle time anew: void ones are dropped once they are the greater part.
 */
import TinyQueue from 'tinyqueue';

/** What timers are about. */
export interface Timed {
  /** Timers of an older version are void. */
  version: number;
  /** Timers of this version that are not due yet. */
  armed: number;
}

export interface Timer<E extends Timed> {
  readonly at: number;
  readonly entry: E;
  readonly version: number;
  readonly bound: 'lo' | 'hi';
}

/** Fewer void timers than this are not worth a pass. */
const FEW = 1024;

export class Timers<E extends Timed> {
  #queue = new TinyQueue<Timer<E>>([], byTime);
  #void = 0;

  get size(): number {
    return this.#queue.length;
  }

  arm(entry: E, bound: 'lo' | 'hi', at: number): void {
    entry.armed++;
    this.#queue.push({ at, entry, version: entry.version, bound });
  }

  /** Every timer of this entry is void. */
  cancel(entry: E): void {
    entry.version++;
    this.#void += entry.armed;
    entry.armed = 0;
    if (this.#void > FEW && this.#void > this.#queue.length / 2) this.#sweep();
  }

  /** Takes the first timer that is due at `t`; null where none is. */
  due(t: number): Timer<E> | null {
    for (let next = this.#queue.peek(); next && next.at <= t; next = this.#queue.peek()) {
      this.#queue.pop();
      if (next.version === next.entry.version) {
        next.entry.armed--;
        return next;
      }
      this.#void--;
    }
    return null;
  }

  #sweep(): void {
    const valid = this.#queue.data.filter((timer) => timer.version === timer.entry.version);
    this.#queue = new TinyQueue(valid, byTime);
    this.#void = 0;
  }
}

function byTime(a: { at: number }, b: { at: number }): number {
  return a.at - b.at;
}
