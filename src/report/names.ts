/** Builds by names that are short enough for a picture and a table's head. */
import type { BuildReport } from '../verdict/schema.ts';

/** `python:mcp@1.29.1` → `mcp 1.29.1`; `python:mcp@latest` → `mcp latest (2.2.0)`. */
export function shortName({ name, version }: Pick<BuildReport, 'name' | 'version'>): string {
  return name
    .replace(/^python:(.+)@latest$/, `$1 latest (${version ?? '?'})`)
    .replace(/^python:(.+)@/, '$1 ');
}

/** What tells the names apart: without what all begin with, up to a sign that ends a word. */
export function labelsOf(names: readonly string[]): string[] {
  const [first = '', ...others] = names;
  if (others.length === 0) return [...names];
  let common = 0;
  while (common < first.length && others.every((name) => name[common] === first[common])) common++;
  const cut = Math.max(...[' ', '@', ':', '/'].map((sign) => first.slice(0, common).lastIndexOf(sign) + 1));
  return names.every((name) => name.length > cut) ? names.map((name) => name.slice(cut)) : [...names];
}
