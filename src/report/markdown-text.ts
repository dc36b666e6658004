/** Text put into Markdown: it stays text, whatever is in it. */

/** Keeps `@name`, a bare URL or `#1` from becoming a mention or a link, and is not seen. */
const JOINER = '\u2060';

/** A sentence inside a paragraph, a list's entry or a table's cell. */
export function escapeText(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_~|[\]$]/g, '\\$&')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[@#](?=\w)/g, `$&${JOINER}`)
    .replace(/(:)(?=\/\/)/g, `$1${JOINER}`)
    .replace(/\b(www)(?=\.)/gi, `$1${JOINER}`)
    .replace(/^(\d+)([.)])/, '$1\\$2')
    .replace(/^[#+=-]/, '\\$&');
}

/** A name: shown as it is, neither mention nor link. */
export function codeSpan(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const space = /^`|`$/.test(text) ? ' ' : '';
  // A table's cell ends at a bar, also within a code span.
  return `${fence}${space}${text.replace(/\s+/g, ' ').replace(/\|/g, '\\|')}${space}${fence}`;
}
