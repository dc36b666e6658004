/**
 * Columns of numbers and of strings that take little memory: a recording may hold millions of samples, and most of
 * their fields hardly change from one to the next.
 */

const SHIFT = 12;
const CHUNK = 1 << SHIFT;
const MASK = CHUNK - 1;

type Offsets = Uint8Array | Uint16Array | Uint32Array | Float64Array;

interface Chunk {
  readonly base: number;
  /** What is added to the base at each place; null where each is the base itself. */
  readonly offsets: Offsets | null;
}

const FIRST_ROOM = 16;

/** Numbers in their order; any number, NaN among them, comes back as it was put in (-0 as 0). */
export class NumberColumn {
  readonly #chunks: Chunk[] = [];
  /** The last numbers, which are no chunk yet. */
  #open = new Float64Array(FIRST_ROOM);
  #used = 0;

  get length(): number {
    return this.#chunks.length * CHUNK + this.#used;
  }

  push(value: number): void {
    if (this.#used === this.#open.length) this.#grow();
    this.#open[this.#used++] = value + 0;
    if (this.#used < CHUNK) return;
    this.#chunks.push(packed(this.#open));
    this.#used = 0;
  }

  /** NaN beyond the end. */
  get(index: number): number {
    const chunk = this.#chunks[index >>> SHIFT];
    if (chunk === undefined)
      return index >= 0 && index < this.length ? (this.#open[index & MASK] ?? NaN) : NaN;
    return chunk.offsets === null ? chunk.base : chunk.base + (chunk.offsets[index & MASK] ?? 0);
  }

  #grow(): void {
    const larger = new Float64Array(2 * this.#open.length);
    larger.set(this.#open);
    this.#open = larger;
  }
}

/** Whole numbers near each other take one, two or four bytes each, equal ones none, others eight. */
function packed(values: Float64Array): Chunk {
  const first = values[0] ?? NaN;
  if (areAll(values, first)) return { base: first, offsets: null };
  let [least, most] = [first, first];
  for (const value of values) {
    if (!Number.isSafeInteger(value)) return { base: 0, offsets: values.slice() };
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const range = most - least;
  if (range >= 2 ** 32) return { base: 0, offsets: values.slice() };
  const offsets = new (range < 2 ** 8 ? Uint8Array : range < 2 ** 16 ? Uint16Array : Uint32Array)(CHUNK);
  for (let i = 0; i < CHUNK; i++) offsets[i] = (values[i] ?? 0) - least;
  return { base: least, offsets };
}

function areAll(values: Float64Array, first: number): boolean {
  const missing = Number.isNaN(first);
  for (const value of values) if (value !== first && !(missing && Number.isNaN(value))) return false;
  return true;
}

/** Strings, each kept once. */
export class StringColumn {
  readonly #codes = new NumberColumn();
  readonly #known = new Map<string | undefined, number>();
  readonly #strings: (string | undefined)[] = [];

  push(text: string | undefined): void {
    let code = this.#known.get(text);
    if (code === undefined) {
      code = this.#strings.push(text) - 1;
      this.#known.set(text, code);
    }
    this.#codes.push(code);
  }

  get(index: number): string | undefined {
    return this.#strings[this.#codes.get(index)];
  }
}
