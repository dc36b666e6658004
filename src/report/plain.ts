/** Text from servers, recordings and configurations as it may be shown: nothing in it steers a terminal. */

/** Line breaks become spaces; so does whatever else ends a line somewhere. */

const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** C0, DEL and C1, and what reorders or hides the text around it. */
// eslint-disable-next-line no-control-regex -- control characters are what it is about
const STEERING = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

/** One line without control characters: each stands as `\ufffd`. */
export const plain = (text: string): string => text.replace(BREAKS, ' ').replace(STEERING, '\ufffd');

/** The same value with every text in it, names of fields included, made plain. */
export const plainAll = <T>(value: T): T => withTexts(value, plain);

/** The same value with every text in it, names of fields included, replaced by what `change` makes of it. */
export function withTexts<T>(value: T, change: (text: string) => string): T {
  return changed(value, change) as T;
}

function changed(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((inner) => changed(inner, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [change(name), changed(inner, change)]),
  );
}
