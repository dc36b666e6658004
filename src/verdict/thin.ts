/** Fewer points for a picture that shows the same: of each stretch, the extremes of every curve. */

/** The value at a place; NaN where there is none. */
export type Curve = (place: number) => number;

/**
 * Places to draw, ascending.
 * @param always places that are drawn in any case, unless they are more than half of `most`; beside them the first
 * and the last place
 */
export function thin(
  length: number,
  curves: readonly Curve[],
  always: readonly number[],
  most: number,
): number[] {
  const all = Array.from({ length }, (_, place) => place);
  if (length <= most) return all;
  const ends = [0, length - 1];
  const kept = always.length > most / 2 ? ends : [...ends, ...always];
  let places = all;
  for (let stretches = most; ; stretches = stretches >> 1) {
    // Extremes of two stretches together are among the extremes of each: no pass loses one.
    places = extremes(places, Math.max(1, stretches), curves);
    const drawn = [...new Set([...places, ...kept])].sort((a, b) => a - b);
    if (drawn.length <= most || stretches <= 1) return drawn;
  }
}

function extremes(places: readonly number[], stretches: number, curves: readonly Curve[]): number[] {
  const found = new Set<number>();
  const size = Math.max(1, Math.ceil(places.length / stretches));
  for (let begin = 0; begin < places.length; begin += size) {
    const end = Math.min(places.length, begin + size);
    // Without this, a stretch in which no curve has a value would not be seen as a gap.
    found.add(places[begin] ?? 0);
    for (const curve of curves) addExtremes(found, places, begin, end, curve);
  }
  return [...found].sort((a, b) => a - b);
}

function addExtremes(
  found: Set<number>,
  places: readonly number[],
  begin: number,
  end: number,
  curve: Curve,
): void {
  let [least, most, leastAt, mostAt] = [Infinity, -Infinity, -1, -1];
  for (let i = begin; i < end; i++) {
    const place = places[i] ?? 0;
    const value = curve(place);
    if (value < least) [least, leastAt] = [value, place];
    if (value > most) [most, mostAt] = [value, place];
  }
  if (leastAt >= 0) found.add(leastAt);
  if (mostAt >= 0) found.add(mostAt);
}
