/** Session ids are secrets: they are kept so that printing or recording one by accident shows only its start. */

/** At most the first 4 characters of an id, and of a short one none. */
export function redact(id: string): string {
  return id.length > 8 ? `${id.slice(0, 4)}…` : '…';
}

/** A session id with what is needed to use it. Its text leaves this object only through `reveal`. */
export class SessionId {
  readonly #value: string;
  /** The revision its session speaks; null where it is not known, and then no version header is sent. */
  readonly version: string | null;

  constructor(value: string, version: string | null) {
    this.#value = value;
    this.version = version;
  }

  /** The id itself, for the header of a request and nothing else. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return redact(this.#value);
  }

  toJSON(): string {
    return this.toString();
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }
}
