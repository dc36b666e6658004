/** Label matchers as PromQL has them: `job="mcp", env=~"prod|staging"`. */
import { RE2JS } from 're2js';
import { UsageError } from '../targets/target.ts';

const LABEL = /^[A-Za-z_][A-Za-z0-9_]*/;
const OPERATOR = /^(=~|!~|!=|=)/;
/** Quoted as in Go: the escapes that Prometheus reads, or none between backticks. */
const VALUE =
  /^("(?:[^"\\\n]|\\(?:[abfnrtv\\"]|x[0-9A-Fa-f]{2}|[0-7]{3}|u[0-9A-Fa-f]{4}))*"|'(?:[^'\\\n]|\\(?:[abfnrtv\\']|x[0-9A-Fa-f]{2}|[0-7]{3}|u[0-9A-Fa-f]{4}))*'|`[^`]*`)/;

/**
 * Checks the text between a selector's braces and gives it back trimmed, without a comma at its end.
 * @param option the option it was given by, for the sentence
 * @throws UsageError that says what is wrong, where, and what to write
 */
export function parseSelector(text: string, option: string): string {
  let rest = text.trim();
  const fail = (what: string): never => {
    const at = rest === '' ? 'at its end' : `at ${rest.slice(0, 30)}`;
    throw new UsageError(
      `${option}: ${what} ${at}: write label matchers such as job="mcp",env=~"prod|staging".`,
    );
  };
  const take = (pattern: RegExp, what: string): string => {
    const found = pattern.exec(rest)?.[0] ?? fail(`${what} is missing`);
    rest = rest.slice(found.length).trimStart();
    return found;
  };
  const matchers: string[] = [];
  while (rest !== '') {
    if (rest.startsWith('{')) fail('no braces are wanted');
    if (/^__name__\b/.test(rest)) fail('the metrics’ names are fixed, so __name__ cannot be chosen');
    const before = rest;
    const name = take(LABEL, 'a label’s name');
    const operator = take(OPERATOR, 'one of = != =~ !~');
    const value = take(VALUE, 'a value in quotes');
    if (operator.endsWith('~') && !isPattern(unquoted(value))) {
      rest = before;
      fail('no regular expression that Prometheus takes (RE2)');
    }
    matchers.push(name + operator + value);
    if (rest !== '') take(/^,/, 'a comma');
  }
  return matchers.join(',');
}

const CONTROLS: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** The text that a value in quotes stands for. */
function unquoted(value: string): string {
  const inner = value.slice(1, -1);
  if (value.startsWith('`')) return inner;
  return inner.replace(/\\(x..|u.{4}|[0-7]{3}|.)/g, (_, escape: string) => {
    const [kind = ''] = escape;
    if (kind === 'x' || kind === 'u') return String.fromCharCode(parseInt(escape.slice(1), 16));
    return escape.length === 3 ? String.fromCharCode(parseInt(escape, 8)) : (CONTROLS[kind] ?? kind);
  });
}

function isPattern(text: string): boolean {
  try {
    RE2JS.compile(`^(?s:${text})$`);
    return true;
  } catch {
    return false;
  }
}
