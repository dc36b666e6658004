/** JUnit: valid by the schema in common use, and red exactly where the verdict is. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FORMATS } from '../../src/report/formats.ts';
import { junitReport } from '../../src/report/junit.ts';
import type { ArmSeries } from '../../src/verdict/series.ts';
import type { Report } from '../../src/verdict/schema.ts';
import { junitErrors } from '../support/junit-schema.ts';
import {
  buildOf,
  CANDIDATE,
  caseOf,
  changeOf,
  claimOf,
  comparedOf,
  measureOf,
  performanceOf,
  poisoned,
  reportOf,
} from '../support/reports.ts';

const CHANGES = [
  changeOf('delete.deregisters', 'regressed'),
  changeOf('delete.accepted', 'same'),
  changeOf('delete.reopens', 'fixed'),
  changeOf('abandon.bounded', 'regressed', { allowed: 'A worker recycles.' }),
  changeOf('reject.refused', 'unmeasured'),
  changeOf('reject.id-unusable', 'same', {
    baseline: { status: 'fail', observed: '9 used' },
    candidate: { status: 'fail', observed: '9 used' },
  }),
];

const compared = comparedOf(CHANGES, 'fail', {
  performance: performanceOf(
    [
      measureOf('calls-p50'),
      measureOf('calls-p99', { decision: 'shown' }),
      measureOf('start', { mayFail: false }),
    ],
    { decides: true },
  ),
});

const checked = reportOf(
  [
    buildOf(CANDIDATE, [
      caseOf('delete', [
        claimOf('delete.accepted'),
        claimOf('delete.deregisters', { status: 'fail' }),
        claimOf('delete.reopens', { status: 'unmeasured' }),
        claimOf('delete.id-refused', { status: 'unmeasured', promised: false }),
      ]),
      caseOf('abandon', [claimOf('abandon.bounded', { status: 'fail', allowed: 'A worker recycles.' })]),
    ]),
  ],
  {
    verdict: 'fail',
    allowances: [
      { claim: 'abandon.bounded', reason: 'A worker recycles.', stale: false },
      { claim: 'over-cap.exact', reason: 'Long ago.', stale: true },
    ],
  },
);

/** The test case of that name, from its start to its end. */
function caseIn(xml: string, name: string): string {
  const found = [...xml.matchAll(/<testcase [^>]*>[\s\S]*?<\/testcase>/g)].map(([text]) => text);
  const one = found.filter((text) => text.includes(`name="${name}`));
  assert.equal(one.length, 1, `${name} in ${xml}`);
  return one[0] ?? '';
}

const attribute = (xml: string, name: string): number =>
  Number(new RegExp(`<testsuites[^>]* ${name}="(\\d+)"`).exec(xml)?.[1] ?? NaN);

describe('a claim is a test case', () => {
  const xml = junitReport(checked);

  test('in a suite per build and case', () => {
    assert.match(
      xml,
      /<testsuite name="python:mcp@1\.29\.1 delete" tests="4" failures="1" errors="0" skipped="2"/,
    );
    assert.match(
      caseIn(xml, 'delete.accepted: What delete.accepted says.'),
      /classname="python:mcp@1\.29\.1\.delete"/,
    );
  });

  test('failed with what was expected, observed and why', () => {
    const text = caseIn(xml, 'delete.deregisters');
    assert.match(text, /<failure message="Why delete\.deregisters did not pass\." type="failure">/);
    assert.match(text, /expected: 0 registered\nobserved: 400 registered\nreason: Why/);
  });

  test('skipped with its reason where it was not measured, not promised, or is allowed', () => {
    assert.match(caseIn(xml, 'delete.reopens'), /<skipped>unmeasured: Why/);
    assert.match(caseIn(xml, 'delete.id-refused'), /<skipped>not promised: Why/);
    assert.match(caseIn(xml, 'abandon.bounded:'), /<skipped>allowed: A worker recycles\. \(Why/);
  });

  test('a stale allowance is a failed one, a used one passes', () => {
    assert.match(caseIn(xml, 'over-cap.exact'), /classname="allowances".*\n?\s*<failure message="stale: /);
    assert.match(caseIn(xml, 'abandon.bounded"'), /<system-out>its failure is allowed/);
  });

  test('the suites say which tool and machine it was, the floor and the verdict', () => {
    assert.match(xml, /<property name="verdict" value="fail"\/>/);
    assert.match(xml, /<property name="tool\.version" value="0\.1\.0"\/>/);
    assert.match(xml, /<property name="host\.node" value="v20\.20\.2"\/>/);
    assert.match(xml, /<property name="detection-floor" value="Counts are exact: 1 session kept in 400 /);
  });
});

describe('a change is a test case', () => {
  const xml = junitReport(compared);

  test('regressed is failed; what the baseline fails as well turns nothing red', () => {
    assert.match(
      xml,
      /<testsuite name="comparison python:mcp@1\.30\.0 → python:mcp@1\.29\.1" tests="6" failures="1"/,
    );
    assert.match(caseIn(xml, 'delete.deregisters'), /<failure message="regressed: /);
    assert.match(caseIn(xml, 'reject.id-unusable'), /<skipped>not judged, because the baseline fails it/);
    assert.match(caseIn(xml, 'delete.reopens'), /<system-out>fixed\./);
    assert.match(caseIn(xml, 'abandon.bounded'), /<skipped>allowed: A worker recycles/);
    assert.match(caseIn(xml, 'reject.refused'), /<skipped>undecided: /);
    assert.ok(!xml.includes('"python:mcp@1.30.0 '), 'no suite of the baseline');
  });

  test('a measure of speed fails only where it decides', () => {
    assert.match(caseIn(xml, 'calls-p50'), /<failure message="worse: \+20\.0 %/);
    assert.match(caseIn(xml, 'calls-p99'), /<skipped>shown, never decides/);
    assert.match(caseIn(xml, 'start'), /<skipped>worse: .*does not decide/);
  });
});

test('red where the verdict is fail or undecided, and only there', () => {
  const same = [changeOf('delete.accepted', 'same'), changeOf('delete.reopens', 'fixed')];
  const verdicts: [Report, number, number][] = [
    [checked, 2, 0],
    [compared, 2, 0],
    [comparedOf(same, 'pass'), 0, 0],
    [comparedOf([changeOf('reject.refused', 'unmeasured')], 'inconclusive'), 0, 1],
    [reportOf([], { verdict: 'inconclusive', complete: false }), 0, 1],
  ];
  for (const [report, failures, errors] of verdicts) {
    const xml = junitReport(report);
    assert.deepEqual([attribute(xml, 'failures'), attribute(xml, 'errors')], [failures, errors], xml);
  }
});

test('a suite takes as long as its arms did', () => {
  const phases = [{ phase: 'load', from: 0, to: 2.5 }] as const;
  const arm = { build: CANDIDATE, case: 'delete', phases } as unknown as ArmSeries;
  const xml = FORMATS.junit.render({ report: checked, series: () => [arm] });
  assert.match(xml, /<testsuite name="python:mcp@1\.29\.1 delete"[^>]* time="2\.500"/);
  assert.match(xml, /<testsuites[^>]* time="2\.500"/);
});

describe('by junit-10.xsd', () => {
  test('what is not valid is found', async () => {
    for (const wrong of ['<testsuites><claim/></testsuites>', '<testsuites name="\u0001"/>'])
      assert.notDeepEqual(await junitErrors([wrong]), []);
  });

  test('every kind of report is valid', async () => {
    const reports = [checked, compared, reportOf([]), comparedOf([], 'inconclusive')];
    assert.deepEqual(await junitErrors(reports.map((report) => junitReport(report))), []);
  });

  test('whatever text is in it', async () => {
    const evil = [
      '\u0000\u0001\u001b[31m\u009b',
      ']]><![CDATA[ --><x a="\'>&amp;&#0;',
      '\ud800 \udc00 \ufffe\uffff',
      '',
      ' ',
    ];
    const texts = [...evil, ...fc.sample(fc.string({ unit: 'binary' }), { numRuns: 60, seed: 1 })];
    const documents = texts.flatMap((text) =>
      [checked, compared].map((report) => junitReport(poisoned(report, text))),
    );
    assert.deepEqual(await junitErrors(documents), []);
  });
});
