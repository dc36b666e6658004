/**
 * Seeded choices for session plans. Pure and small, so that k6 and Node draw the same values.
 */

/** What a session plan draws from: its own index and values that follow from seed, stage and index alone. */
export interface Pick {
  /** Position of this session in its stage, from 0. */
  readonly index: number;
  /** A whole number in [0, below). */
  int(below: number): number;
  /** Printable text of 8 to 64 characters. */
  text(): string;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789 ';

/** FNV-1a over the stage's name, mixed with seed and index: independent streams without shared state. */
function hash(seed: number, stage: string, index: number): number {
  let h = 0x811c9dc5 ^ seed;
  const mix = (value: number): void => {
    h = Math.imul(h ^ value, 0x01000193) >>> 0;
  };
  for (let i = 0; i < stage.length; i++) mix(stage.charCodeAt(i));
  mix(index & 0xffff);
  mix(index >>> 16);
  return h;
}

/** mulberry32: 32 bits of state, enough for payloads. Not for secrets. */
function generator(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** The draws of one session: the same for the same seed, stage and index, in every runtime. */
export function pick(seed: number, stage: string, index: number): Pick {
  const next = generator(hash(seed, stage, index));
  const int = (below: number): number => Math.floor(next() * below);
  return {
    index,
    int,
    text: () => {
      let out = '';
      for (let length = 8 + int(57); out.length < length;) out += ALPHABET.charAt(int(ALPHABET.length));
      return out;
    },
  };
}
