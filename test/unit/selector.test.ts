/** Label matchers from the command line: what Prometheus takes is taken, the rest is one sentence. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseSelector } from '../../src/cli/selector.ts';
import { UsageError } from '../../src/targets/target.ts';
import { inFolder } from '../support/cli.ts';
import { prometheusMissing, promtool } from '../support/prometheus.ts';

const TAKEN: readonly (readonly [string, string])[] = [
  ['', ''],
  ['job="mcp"', 'job="mcp"'],
  [' job = "mcp" , env=~"prod|staging",', 'job="mcp",env=~"prod|staging"'],
  ['host=~"(?i)a\\\\.b(?P<n>c)*"', 'host=~"(?i)a\\\\.b(?P<n>c)*"'],
  ["zone!='a',x!~`b\\d`", "zone!='a',x!~`b\\d`"],
  ['path="C:\\\\x \\"y\\" {z}, ="', 'path="C:\\\\x \\"y\\" {z}, ="'],
];

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['job=mcp', /a value in quotes is missing at mcp/],
  ['{job="mcp"}', /no braces are wanted/],
  ['job', /one of = != =~ !~ is missing at its end/],
  ['job=="mcp"', /a value in quotes is missing/],
  ['job="mcp" env="x"', /a comma is missing at env/],
  ['job="mcp"}) or up{', /a comma is missing/],
  ['job=~"(unclosed"', /no regular expression that Prometheus takes \(RE2\) at job/],
  ['job!~"a{2,1}"', /no regular expression/],
  ['job=~"a(?=b)"', /no regular expression/],
  ['job=~"\\x28"', /no regular expression/],
  ['job="a\\q"', /a value in quotes is missing/],
  ['1a="x"', /a label’s name is missing/],
  ['__name__="up"', /__name__ cannot be chosen/],
  [',', /a label’s name is missing/],
];

for (const [text, expected] of TAKEN)
  test(`taken: ${text}`, () => assert.equal(parseSelector(text, '--selector'), expected));

for (const [text, reason] of REFUSED)
  test(`refused: ${text}`, () =>
    assert.throws(
      () => parseSelector(text, '--selector'),
      (error) => {
        assert.ok(error instanceof UsageError);
        assert.match(error.message, /^--selector: .*: write label matchers such as job="mcp"/);
        assert.match(error.message, reason);
        return true;
      },
    ));

test('whatever is taken, Prometheus takes too', { skip: prometheusMissing }, async () => {
  const text = fc.string({
    unit: fc.constantFrom(
      'a',
      'b',
      '=',
      '"',
      "'",
      '`',
      '\\\\',
      ',',
      '{',
      '}',
      '~',
      '!',
      ' ',
      '_',
      '1',
      '\\n',
    ),
  });
  const taken = fc
    .sample(
      fc.oneof(
        text,
        fc
          .tuple(fc.constantFrom('=', '!='), fc.constantFrom('"', "'", '`'), text)
          .map(([operator, quote, value]) => `label${operator}${quote}${value}${quote}`),
      ),
      { numRuns: 4000, seed: 1 },
    )
    .flatMap((sample) => {
      try {
        return [parseSelector(sample, '--selector')];
      } catch {
        return [];
      }
    })
    // A regular expression is Prometheus' own to judge.
    .filter((selector) => !selector.includes('~'));
  assert.ok(new Set(taken).size > 100);
  const rules = [...new Set(taken)].map((selector, index) => ({
    record: `r${index}`,
    expr: `up{${selector}}`,
  }));
  await inFolder(async (folder) => {
    const file = join(folder, 'rules.json');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'g', rules }] }));
    const { code, output } = await promtool(['check', 'rules', file]);
    assert.equal(code, 0, output);
  });
});
