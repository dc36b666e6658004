/** What comes from servers and recordings stays text: on a terminal and in Markdown. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { codeSpan, escapeText } from '../../src/report/markdown-text.ts';
import { markdownReport } from '../../src/report/markdown.ts';
import { plain } from '../../src/report/plain.ts';
import { terminalReport } from '../../src/report/terminal.ts';
import { reportSchema } from '../../src/verdict/schema.ts';
import { changeOf, comparedOf, measureOf, performanceOf, poisoned } from '../support/reports.ts';

const golden = reportSchema.parse(
  JSON.parse(readFileSync(new URL('../golden/report.v1.json', import.meta.url), 'utf8')),
);
const EVIL =
  'a\u001b]0;owned\u0007b\u009b31mc\r\nd\u202ee @everyone <img src=x> https://evil.example/ | `x` #1';

const compared = comparedOf(
  [changeOf('delete.accepted', 'regressed', { allowed: 'text' }), changeOf('reject.refused', 'unmeasured')],
  'fail',
  { performance: performanceOf([measureOf('start')], { obstacle: 'text' }) },
  { allowances: [{ claim: 'text', reason: 'text', stale: true }] },
);

// eslint-disable-next-line no-control-regex -- they are what must not be there
const STEERING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

test('no text of a report steers the terminal, whichever field it stands in', () => {
  for (const report of [golden, compared]) {
    const text = terminalReport(poisoned(report, EVIL), { color: false, columns: 100_000 });
    assert.match(text, /owned/);
    assert.doesNotMatch(text, STEERING);
  }
});

test('no text of a report is a mention, a link or HTML in Markdown, whichever field it stands in', () => {
  for (const report of [golden, compared]) {
    const text = markdownReport(poisoned(report, EVIL));
    assert.match(text, /owned/);
    assert.doesNotMatch(text, STEERING);
    const outsideCode = text.replace(/(`+)[^`](.*?[^`])?\1(?!`)/g, '');
    assert.doesNotMatch(outsideCode, /@everyone|<img|https:\/\/|#1/);
  }
});

test('any text becomes one line without control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.doesNotMatch(plain(text), STEERING);
      assert.ok(!plain(text).includes('\n'));
      assert.doesNotMatch(escapeText(text), /(?<!\\)(\\\\)*[`*|[\]]|[<>]|@\w|:\/\//);
      const [fence = ''] = /^`+/.exec(codeSpan(`x${text}`)) ?? [];
      assert.ok(!text.includes(fence), 'a code span does not end before its end');
    }),
  );
  assert.equal(
    escapeText('two sentences. And 1 - 2 = 3, or mcp 1.29.1'),
    'two sentences. And 1 - 2 = 3, or mcp 1.29.1',
  );
});

test('a reason that many claims share is said once, and a name that begins it is not doubled', () => {
  const report = structuredClone(golden);
  const [build] = report.builds;
  assert.ok(build);
  report.builds = [build];
  const reason = `${build.name} does not accept connections`;
  for (const played of build.cases)
    for (const claim of played.claims) Object.assign(claim, { status: 'unmeasured', promised: true, reason });
  for (const text of [
    terminalReport(report, { color: false, columns: 200 }),
    markdownReport(report).replaceAll('\u2060', ''),
  ]) {
    assert.equal(text.split('does not accept connections').length, 2, text);
    assert.ok(!text.includes(`${build.name}: ${build.name}`) && !text.includes(`\`: ${build.name}`), text);
  }
});
