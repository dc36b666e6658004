/** HTML by template literals: whatever is put in is escaped, but for what was made by the same function. */

/** Text that is HTML already. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | null | undefined | false | readonly Value[];

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);

/** Indentation is for those who read the source. */
const narrowed = (part: string): string => part.replace(/\s*\n\s*/g, '\n');

/** Attribute values must stand in quotes. `null` and `false` give nothing; a list is put together without a gap. */
export function html({ raw }: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const parts = raw.map(narrowed);
  return new Markup(parts.reduce((text, part, i) => text + render(values[i - 1]) + part));
}

function render(value: Value): string {
  if (value instanceof Markup) return value.text;
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'object') return value.map(render).join('');
  return escapeHtml(String(value));
}

/** What a generated module or a serializer made: it is put in as it stands. */
export const trusted = (text: string): Markup => new Markup(text);

/** JSON for a script element: no text in it can end the element or begin a comment. */
export const scriptJson = (value: unknown): Markup =>
  new Markup(
    JSON.stringify(value)
      .replace(/</g, '\\u003c')
      .replace(/\u2028/g, '\\u2028')
      .replace(/\u2029/g, '\\u2029'),
  );
