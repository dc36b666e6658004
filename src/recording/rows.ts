/**
 * A long list whose elements are made anew each time that they are looked at: what arrays offer and callers need,
 * without an object for every element.
 */

/** What an array and such a list have in common. */
export interface Sequence<T> extends Iterable<T> {
  readonly length: number;
  at(index: number): T | undefined;
  findLast(wanted: (row: T) => unknown): T | undefined;
}

export abstract class Rows<T> implements Sequence<T> {
  abstract get length(): number;
  /** @param index 0 ≤ index < length */
  protected abstract row(index: number): T;

  /** As Array's: negative counts from the end. */
  at(index: number): T | undefined {
    const place = index < 0 ? this.length + index : index;
    return place >= 0 && place < this.length ? this.row(place) : undefined;
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let i = 0; i < this.length; i++) yield this.row(i);
  }

  findLast(wanted: (row: T) => unknown): T | undefined {
    for (let i = this.length - 1; i >= 0; i--) {
      const row = this.row(i);
      if (wanted(row)) return row;
    }
    return undefined;
  }

  /** As an array: for few of many. */
  filter(wanted: (row: T) => unknown): T[] {
    const found: T[] = [];
    for (const row of this) if (wanted(row)) found.push(row);
    return found;
  }

  reduce<R>(step: (result: R, row: T) => R, first: R): R {
    let result = first;
    for (const row of this) result = step(result, row);
    return result;
  }

  /** Those at the places given, in their order. */
  pick(places: ArrayLike<number>): Rows<T> {
    return new Picked((index) => this.row(index), places);
  }
}

class Picked<T> extends Rows<T> {
  readonly #row: (index: number) => T;
  readonly #places: ArrayLike<number>;

  constructor(row: (index: number) => T, places: ArrayLike<number>) {
    super();
    this.#row = row;
    this.#places = places;
  }

  get length(): number {
    return this.#places.length;
  }

  protected row(index: number): T {
    return this.#row(this.#places[index] ?? 0);
  }
}
