/** Markdown that fits where it is shown: what does not fit is left out, and that is said. */

/** A comment on GitHub holds 65,536 characters; what posts it adds some of its own. */
export const MOST_CHARACTERS = 65_000;
/** No part of a report may push out all that follows it. */
const MOST_OF_ONE_SECTION = 0.4;
/** Room for the sentence that says what was left out. */
const SENTENCE = 1500;
/** No name or sentence of a report is longer than this as a rule: what is, was not written for people. */
const MOST_OF_ONE_TEXT = 1000;

export interface Section {
  readonly title: string;
  /** Lines that stand before the entries, whichever of them fit: the head of a table. */
  readonly head?: readonly string[];
  /** Each is shown whole or not at all. */
  readonly entries: readonly string[];
  readonly between?: '\n\n';
  /** What an entry is, for the sentence about those left out: `failed claims`. */
  readonly of: string;
}

/** The opening and the closing stand always; of the sections, in their order, what fits. */
export function fitted(opening: string, sections: readonly Section[], closing: string): string {
  const left: string[] = [];
  const parts = [opening];
  let room = MOST_CHARACTERS - SENTENCE - opening.length - closing.length;
  for (const section of sections) {
    const shown = fitting(section, Math.min(room, MOST_CHARACTERS * MOST_OF_ONE_SECTION));
    const missing = section.entries.length - shown.length;
    if (missing > 0) left.push(`${missing} of ${section.entries.length} ${section.of}`);
    if (shown.length === 0) continue;
    const text = sectionText(section, shown);
    parts.push(text);
    room -= text.length + 2;
  }
  if (left.length > 0)
    parts.push(
      `Left out here for want of room: ${left.join('; ')}. \`report.json\`, beside the recording, has all of it.`,
    );
  return [...parts, closing].join('\n\n') + '\n';
}

function fitting(section: Section, room: number): string[] {
  const gap = (section.between ?? '\n').length;
  const shown: string[] = [];
  let length = sectionText(section, []).length + 2;
  for (const entry of section.entries) {
    length += entry.length + gap;
    if (length > room) break;
    shown.push(entry);
  }
  return shown;
}

const sectionText = ({ title, head = [], between }: Section, shown: readonly string[]): string =>
  [`### ${title}`, [...head, shown.join(between ?? '\n')].join('\n')].join('\n\n');

/** A text cut to what a person would read, and not in the middle of a character. */
export const clipped = (text: string): string =>
  text.length <= MOST_OF_ONE_TEXT
    ? text
    : `${text.slice(0, MOST_OF_ONE_TEXT - 1).replace(/[\ud800-\udbff]$/, '')}…`;
