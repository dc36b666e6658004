/**
 * Which versions of a sweep to measure next, so that each change is found with few runs: the ends of every release
 * line first, then halves between neighbours that differ. What lies between two that are the same is assumed.
 */
import { explain } from '@renovatebot/pep440';

/** Versions of one release line (the same major version), oldest first; the lines in their order. */
export function releaseLines(versions: readonly string[]): string[][] {
  const lines = new Map<string, string[]>();
  for (const version of versions) {
    const parts = explain(version);
    const key = parts === null ? version : `${parts.epoch}!${parts.release[0] ?? 0}`;
    lines.set(key, [...(lines.get(key) ?? []), version]);
  }
  return [...lines.values()];
}

/** Two measured versions of a line with none between them that was measured. */
export interface Gap {
  readonly before: string;
  readonly after: string;
  /** The versions between them, oldest first; not empty. */
  readonly between: readonly string[];
  readonly same: boolean;
}

/**
 * @param line versions of one release line, oldest first
 * @param findings of the measured ones: versions with the same text are the same
 */
export function gapsOf(line: readonly string[], findings: ReadonlyMap<string, string>): Gap[] {
  const places = [...line.keys()].filter((i) => findings.has(line[i] ?? ''));
  return places.flatMap((place, i) => {
    const next = places[i + 1];
    if (next === undefined || next === place + 1) return [];
    const [before = '', after = ''] = [line[place], line[next]];
    const same = findings.get(before) === findings.get(after);
    return [{ before, after, between: line.slice(place + 1, next), same }];
  });
}

/** The versions to measure now, oldest first; none when every change is located. */
export function nextVersions(versions: readonly string[], findings: ReadonlyMap<string, string>): string[] {
  return releaseLines(versions).flatMap((line) => {
    const ends = [...new Set([line[0] ?? '', line.at(-1) ?? ''])].filter((end) => !findings.has(end));
    if (ends.length > 0) return ends;
    return gapsOf(line, findings)
      .filter((gap) => !gap.same)
      .map(({ between }) => between[(between.length - 1) >> 1] ?? '');
  });
}
