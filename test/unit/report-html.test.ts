import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { PageData } from '../../src/report/html/data.ts';
import { html } from '../../src/report/html/markup.ts';
import { labelsOf } from '../../src/report/names.ts';
import { htmlReport, liveData, livePage } from '../../src/report/html/report.ts';
import { comparedJudged, sweptJudged } from '../support/judged.ts';
import { buildOf, caseOf, claimOf, poisoned, reportOf } from '../support/reports.ts';
import { seriesOf } from '../support/series.ts';

const HOSTILE = `</script><!--<img src=x onerror="alert(1)">&'`;

/** What stands between the tags of the script element with this id. */
function jsonOf(page: string, id: string): unknown {
  const match = new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`, 's').exec(page);
  return JSON.parse(match?.[1] ?? 'null');
}

const elements = (page: string, name: string): number => page.split(`<${name}`).length - 1;

const digests = (page: string, element: 'script' | 'style'): string[] =>
  [...page.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );

describe('the HTML report', () => {
  test('is the same for the same report', () => {
    assert.equal(htmlReport(comparedJudged()), htmlReport(comparedJudged()));
  });

  test('allows nothing but its own script and style', () => {
    const page = htmlReport(comparedJudged());
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
    assert.match(policy, /^default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|connect-src|http|\*/);
    for (const element of ['script', 'style'] as const) {
      const found = digests(page, element);
      assert.equal(found.length, 1);
      assert.ok(policy.includes(`${element}-src ${found.join()}`));
    }
    assert.match(livePage(comparedJudged()), /connect-src 'self'/);
    assert.match(page, /uPlot[\s\S]*MIT License/);
  });

  test('says first what a comparison found', () => {
    const page = htmlReport(comparedJudged());
    assert.match(page, /<h1>[\s\S]*The candidate got worse[\s\S]*<\/h1>/);
    for (const text of [
      'What got worse',
      'What was fixed',
      'Undecided',
      'What differed',
      'recycling worker',
      'stale',
    ])
      assert.ok(page.includes(text), text);
  });

  test('names the builds that fail, or says that none does', () => {
    const build = (version: string, status: 'pass' | 'fail') =>
      buildOf(`python:mcp@${version}`, [caseOf('delete', [claimOf('delete.deregisters', { status })])]);
    const two = reportOf([build('1.29.1', 'fail'), build('1.30.0', 'pass')], { verdict: 'fail' });
    assert.match(htmlReport({ report: two, series: () => [] }), /1 of 2 builds fails: mcp 1\.29\.1\./);
    const one = reportOf([build('1.30.0', 'pass')]);
    assert.match(htmlReport({ report: one, series: () => [] }), /mcp 1\.30\.0 keeps what it promises\./);
    const none = reportOf([], { verdict: 'inconclusive', complete: false });
    assert.match(htmlReport({ report: none, series: () => [] }), /Undecided/);
  });

  test('draws a bar for each span of a timeline', () => {
    const page = htmlReport(sweptJudged());
    assert.match(page, /1 claim fails in some of 7 versions/);
    assert.match(page, /<td colspan="3" class="bad"[^>]*>[\s\S]*?1\.8\.0–1\.29\.1/);
    assert.match(page, /<td colspan="2" class="bad"[^>]*>[\s\S]*?2\.0\.0–2\.1\.1/);
    const { builds } = jsonOf(page, 'data') as PageData;
    assert.ok(builds.filter(({ shown }) => shown).length <= 6, 'not more lines than can be told apart');
  });

  test('leaves hostile text text', () => {
    const { report, series } = comparedJudged();
    const clean = htmlReport({ report, series });
    const page = htmlReport({ report: poisoned(report, HOSTILE), series });
    assert.equal(elements(page, 'img'), 0);
    assert.equal(elements(page, 'script'), elements(clean, 'script'));
    assert.deepEqual(digests(page, 'script'), digests(clean, 'script'));
    assert.equal((jsonOf(page, 'report') as typeof report).notices[0]?.text, HOSTILE);
  });

  test('escapes whatever is put into HTML', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const { text: made } = html`<p title="${text}">${text}</p>`;
        assert.match(made, /^<p title="[^"<>]*">[^<>]*<\/p>$/);
      }),
    );
  });

  test('gives a page that is followed its parts', () => {
    const running = liveData(comparedJudged(), true);
    assert.ok(running.running && running.parts.hero?.includes('Running'));
    const over = liveData(comparedJudged(), false);
    assert.ok(!over.running && over.parts.hero?.includes('got worse'));
    // A case that is still played has pictures and no claims.
    const { report } = comparedJudged();
    const played = liveData({ report, series: () => [seriesOf('new', 'reject')] }, true);
    assert.match(played.parts['case-reject'] ?? '', /class="chart"/);
    assert.equal(played.data.builds.at(-1)?.name, 'new');
  });
});

test('labels are what tells the names apart', () => {
  assert.deepEqual(labelsOf(['mcp 1.29.1', 'mcp 1.30.0']), ['1.29.1', '1.30.0']);
  assert.deepEqual(labelsOf(['mine', 'theirs']), ['mine', 'theirs']);
  assert.deepEqual(labelsOf(['mcp 1.2']), ['mcp 1.2']);
  assert.deepEqual(labelsOf(['a b', 'a b c']), ['b', 'b c']);
});
