/** What a sweep came to: spans, states of versions, and what a bisecting sweep measures. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compare } from '@renovatebot/pep440';
import type { SweepRecord } from '../../src/recording/schema.ts';
import { markdownReport } from '../../src/report/markdown.ts';
import { terminalReport } from '../../src/report/terminal.ts';
import { gapsOf, nextVersions, releaseLines } from '../../src/verdict/bisect.ts';
import { fingerprintsOf, timelineOf } from '../../src/verdict/timeline.ts';
import type { BuildReport, ClaimReport, TimelineReport } from '../../src/verdict/schema.ts';
import { buildOf, caseOf, claimOf, reportOf } from '../support/reports.ts';

const PACKAGE = 'python:mcp';

function sweepOf(versions: readonly string[], mode: SweepRecord['mode'], yanked: string[] = []): SweepRecord {
  return { type: 'sweep', t: 0, package: PACKAGE, versions: [...versions], yanked, mode };
}

const timeline = (
  versions: readonly string[],
  builds: readonly BuildReport[],
  mode: SweepRecord['mode'] = 'all',
  yanked: string[] = [],
): TimelineReport => {
  const made = timelineOf({ sweep: sweepOf(versions, mode, yanked) }, builds);
  assert.ok(made);
  return made;
};

type How = 'pass' | 'fail' | 'unmeasured' | 'unasked';
const HOWS: readonly How[] = ['pass', 'fail', 'unmeasured', 'unasked'];

const claim = (id: string, how: How): ClaimReport =>
  how === 'unasked' ? claimOf(id, { status: 'unmeasured', promised: false }) : claimOf(id, { status: how });

/** A version in which `delete.deregisters` and `survival.serves-after` came to this. */
const build = (version: string, deregisters: How, survival: How = 'pass'): BuildReport =>
  buildOf(`${PACKAGE}@${version}`, [
    caseOf('delete', [claim('delete.deregisters', deregisters), claim('survival.serves-after', 'pass')]),
    caseOf('reject', [claim('survival.serves-after', survival)]),
  ]);

const row = (made: TimelineReport, id: string) => {
  const found = made.claims.find((one) => one.id === id);
  assert.ok(found, id);
  return found.spans.map(({ from, to, status }) => `${status} ${from}..${to}`);
};

/** Versions of up to three release lines, oldest first. */
const versions = fc
  .uniqueArray(
    fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 3 })),
    { minLength: 1, maxLength: 60, selector: String },
  )
  .map((parts) => parts.map((part) => part.join('.')).sort(compare));

test('property: the spans of a claim are the versions of its release lines, each once and in order', () => {
  fc.assert(
    fc.property(versions, fc.infiniteStream(fc.constantFrom(...HOWS)), (all, hows) => {
      const how = new Map(all.map((version) => [version, hows.next().value as How]));
      const made = timeline(
        all,
        all.map((version) => build(version, how.get(version) ?? 'pass')),
      );
      assert.deepEqual(
        made.versions.map(({ version }) => version),
        all,
      );
      const spans = made.claims.find(({ id }) => id === 'delete.deregisters')?.spans ?? [];
      const covered = spans.flatMap(({ from, to }) => all.slice(all.indexOf(from), all.indexOf(to) + 1));
      assert.deepEqual(covered, all);
      for (const [i, { from, to, status }] of spans.entries()) {
        assert.equal(from.split('.')[0], to.split('.')[0], 'no span crosses release lines');
        const next = spans[i + 1];
        if (next?.from.split('.')[0] === to.split('.')[0]) assert.notEqual(next?.status, status);
        for (const version of all.slice(all.indexOf(from), all.indexOf(to) + 1))
          assert.equal(how.get(version), status);
      }
    }),
  );
});

/** Measures by a bisecting sweep what each version comes to, as the command does. */
function bisected(all: readonly string[], truth: (version: string) => How): BuildReport[] {
  const builds: BuildReport[] = [];
  for (let round = 0; ; round++) {
    assert.ok(round <= all.length, 'it comes to an end');
    const next = nextVersions(all, fingerprintsOf(sweepOf(all, 'bisect'), builds));
    if (next.length === 0) return builds;
    for (const version of next) {
      assert.ok(!builds.some(({ name }) => name === `${PACKAGE}@${version}`), `${version} is measured once`);
      builds.push(build(version, truth(version)));
    }
  }
}

test('property: where each line changes once at most, a bisecting sweep tells of every version what is true', () => {
  fc.assert(
    fc.property(versions, fc.array(fc.nat(50), { minLength: 3, maxLength: 3 }), (all, changes) => {
      const lines = releaseLines(all);
      const truth = (version: string): How => {
        const at = lines.findIndex((line) => line.includes(version));
        return (lines[at]?.indexOf(version) ?? 0) < (changes[at] ?? 0) ? 'fail' : 'pass';
      };
      const builds = bisected(all, truth);
      const made = timeline(all, builds, 'bisect');
      const full = timeline(
        all,
        all.map((version) => build(version, truth(version))),
      );
      assert.deepEqual(row(made, 'delete.deregisters'), row(full, 'delete.deregisters'));
      for (const { version, state } of made.versions) {
        const wasMeasured = builds.some(({ name }) => name === `${PACKAGE}@${version}`);
        assert.equal(state, wasMeasured ? 'measured' : 'assumed');
      }
      const most = lines.reduce((sum, line) => sum + 2 + Math.ceil(Math.log2(line.length)), 0);
      assert.ok(builds.length <= most, `${builds.length} of ${all.length} measured`);
    }),
  );
});

test('property: whatever is true, an assumed version lies between two measured ones that are the same', () => {
  fc.assert(
    fc.property(versions, fc.infiniteStream(fc.constantFrom(...HOWS)), (all, hows) => {
      const how = new Map(all.map((version) => [version, hows.next().value as How]));
      const builds = bisected(all, (version) => how.get(version) ?? 'pass');
      const measured = new Map(fingerprintsOf(sweepOf(all, 'bisect'), builds));
      for (const line of releaseLines(all)) for (const gap of gapsOf(line, measured)) assert.ok(gap.same);
      const assumed = timeline(all, builds, 'bisect').versions.filter(({ state }) => state === 'assumed');
      assert.equal(assumed.length + builds.length, all.length);
    }),
  );
});

test('a claim of every case fails where it fails in one of them', () => {
  const made = timeline(['1.0.0', '1.1.0'], [build('1.0.0', 'pass', 'pass'), build('1.1.0', 'pass', 'fail')]);
  assert.deepEqual(row(made, 'survival.serves-after'), ['pass 1.0.0..1.0.0', 'fail 1.1.0..1.1.0']);
  assert.deepEqual(
    made.claims.map(({ id }) => id),
    ['delete.deregisters', 'survival.serves-after'],
  );
});

test('a version that could not be measured is told with its reason, whole or in part', () => {
  const nothing = buildOf(`${PACKAGE}@1.1.0`, [
    caseOf('delete', [claimOf('delete.deregisters', { status: 'unmeasured', reason: 'It does not start.' })]),
  ]);
  const made = timeline(
    ['1.0.0', '1.1.0', '1.2.0', '1.3.0'],
    [build('1.0.0', 'fail'), nothing, build('1.2.0', 'fail', 'unmeasured')],
  );
  assert.deepEqual(made.versions, [
    { version: '1.0.0', state: 'measured', reason: '' },
    { version: '1.1.0', state: 'failed', reason: 'It does not start.' },
    { version: '1.2.0', state: 'partly', reason: 'reject: Why survival.serves-after did not pass.' },
    { version: '1.3.0', state: 'failed', reason: 'The run ended before it was measured.' },
  ]);
  assert.deepEqual(row(made, 'delete.deregisters'), [
    'fail 1.0.0..1.0.0',
    'unmeasured 1.1.0..1.1.0',
    'fail 1.2.0..1.2.0',
    'unmeasured 1.3.0..1.3.0',
  ]);
});

test('where the server stopped serving in a case, what passed in it is not known and what failed did', () => {
  const stopped = claimOf('survival.serves-after', { status: 'fail', reason: 'It answers HTTP 500.' });
  const broken = buildOf(`${PACKAGE}@1.1.0`, [
    caseOf('delete', [claim('delete.deregisters', 'fail'), claim('delete.accepted', 'pass'), stopped]),
    caseOf('reject', [claim('reject.refused', 'pass'), claim('survival.serves-after', 'pass')]),
  ]);
  const made = timeline(['1.1.0'], [broken]);
  assert.deepEqual(
    made.claims.map(({ id, spans }) => [id, spans[0]?.status, spans[0]?.reason]),
    [
      ['delete.deregisters', 'fail', 'Why delete.deregisters did not pass.'],
      ['delete.accepted', 'unmeasured', 'It answers HTTP 500.'],
      ['reject.refused', 'pass', ''],
      ['survival.serves-after', 'fail', 'It answers HTTP 500.'],
    ],
  );
  assert.deepEqual(made.versions, [
    { version: '1.1.0', state: 'partly', reason: 'delete: It answers HTTP 500.' },
  ]);
});

test('a version that was taken back says so', () => {
  const made = timeline(['1.0.0', '1.1.0'], [build('1.0.0', 'pass'), build('1.1.0', 'pass')], 'all', [
    '1.1.0',
  ]);
  assert.deepEqual(
    made.versions.map(({ state, reason }) => [state, /taken back/.test(reason)]),
    [
      ['measured', false],
      ['measured', true],
    ],
  );
});

test('a recording without a sweep has no timeline', () => {
  assert.equal(timelineOf({ sweep: null }, [build('1.0.0', 'pass')]), null);
});

const all = ['1.0.0', '1.1.0', '1.2.0', '2.0.0'];
const shown = reportOf([build('1.0.0', 'fail'), build('1.2.0', 'fail'), build('2.0.0', 'unasked')], {
  timeline: timeline(
    all,
    [build('1.0.0', 'fail'), build('1.2.0', 'fail'), build('2.0.0', 'unasked')],
    'bisect',
  ),
});

test('the terminal draws a character a version and says the spans', () => {
  const text = terminalReport(shown, { color: false, columns: 100 });
  assert.match(
    text,
    /python:mcp 1\.0\.0–2\.0\.0: 4 versions, 3 of them measured, 1 between two that are the same\./,
  );
  assert.match(
    text,
    /delete\.deregisters {2}What delete\.deregisters says\.\n {4}✗·✗ \| –\n {4}✗ 1\.0\.0–1\.2\.0 \| – 2\.0\.0\n/,
  );
  assert.match(text, /✓ passes in every version: survival\.serves-after/);
  assert.doesNotMatch(text, /Process memory|Completed requests/, 'no table with a column a version');
});

test('a narrow terminal breaks the drawn line', () => {
  const many = Array.from({ length: 60 }, (_, i) => `1.${i}.0`);
  const made = timeline(
    many,
    many.map((version) => build(version, 'fail')),
  );
  const text = terminalReport(reportOf([], { timeline: made }), { color: false, columns: 40 });
  const drawn = text.split('\n').filter((line) => /^ {4}✗+$/.test(line));
  assert.deepEqual(
    drawn.map((line) => line.length),
    [40, 28],
  );
});

test('Markdown has a row a claim, and fits whatever the versions', () => {
  const text = markdownReport(shown);
  assert.match(text, /^## MCP session retention: sweep/);
  assert.match(text, /\| `delete\.deregisters`<br>.* \| ❌ 1\.0\.0–1\.2\.0<br>➖ 2\.0\.0 \|/);
  const many = Array.from({ length: 3000 }, (_, i) => `1.${i}.0`);
  const flapping = many.map((version, i) => build(version, i % 2 === 0 ? 'fail' : 'unmeasured'));
  assert.ok(markdownReport(reportOf([], { timeline: timeline(many, flapping) })).length <= 65_000);
});
