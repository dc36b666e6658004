/** Label matchers as PromQL has them: `job="mcp", env=~"prod|staging"`. */
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
    matchers.push(
      take(LABEL, 'a label’s name') + take(OPERATOR, 'one of = != =~ !~') + take(VALUE, 'a value in quotes'),
    );
    if (rest !== '') take(/^,/, 'a comma');
  }
  return matchers.join(',');
}
