/** What became of each claim: every pair of findings, and what follows for the verdict. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Recording } from '../../src/recording/reader.ts';
import { comparisonOf, comparisonVerdict } from '../../src/verdict/compare.ts';
import type { BuildReport, ChangeReport, ComparisonReport } from '../../src/verdict/schema.ts';
import { buildOf, caseOf, claimOf } from '../support/reports.ts';

const STATUSES = ['pass', 'fail', 'unmeasured', 'unasked'] as const;
type Status = (typeof STATUSES)[number];

const recording = {
  comparison: {
    baseline: 'old',
    candidate: 'new',
    origins: { baseline: null, candidate: null },
    performance: null,
  },
  blocks: [],
} as unknown as Recording;

const claim = (id: string, status: Status) =>
  status === 'unasked' ? claimOf(id, { status: 'unmeasured', promised: false }) : claimOf(id, { status });

function build(name: string, statuses: readonly Status[], kept?: number): BuildReport {
  const played = caseOf(
    'delete',
    statuses.map((status, i) => claim(`delete.${i}`, status)),
  );
  const sessions =
    played.sessions && kept !== undefined ? { ...played.sessions, retentionDrift: kept } : played.sessions;
  return buildOf(name, [{ ...played, sessions }]);
}

function compared(old: BuildReport, young: BuildReport): ComparisonReport {
  const comparison = comparisonOf(recording, [old, young]);
  assert.ok(comparison);
  return comparison;
}

const of = (was: Status, is: Status): ChangeReport | undefined =>
  compared(build('old', [was]), build('new', [is])).changes[0];

describe('one claim', () => {
  const wanted: [Status, Status, ChangeReport['change'] | 'left out', boolean][] = [
    ['pass', 'pass', 'same', false],
    ['pass', 'fail', 'regressed', false],
    ['pass', 'unmeasured', 'unmeasured', true],
    ['pass', 'unasked', 'unmeasured', true],
    ['fail', 'pass', 'fixed', false],
    ['fail', 'fail', 'same', false],
    ['fail', 'unmeasured', 'unmeasured', true],
    ['fail', 'unasked', 'unmeasured', false],
    ['unmeasured', 'pass', 'unmeasured', false],
    ['unmeasured', 'fail', 'unmeasured', true],
    ['unmeasured', 'unmeasured', 'unmeasured', true],
    ['unmeasured', 'unasked', 'unmeasured', false],
    ['unasked', 'pass', 'unmeasured', false],
    ['unasked', 'fail', 'unmeasured', true],
    ['unasked', 'unmeasured', 'unmeasured', true],
    ['unasked', 'unasked', 'left out', false],
  ];
  for (const [was, is, change, open] of wanted)
    test(`${was}, then ${is}: ${change}${open ? ', open' : ''}`, () => {
      const found = of(was, is);
      assert.equal(found?.change ?? 'left out', change);
      assert.equal(found?.open ?? false, open);
      if (found && change !== 'same') assert.match(found.reason, /\w/);
    });
});

test('a failure that is allowed is not open where it is not known whether it is new', () => {
  for (const [allowed, open] of [
    ['it is known', false],
    [null, true],
  ] as const) {
    const failing = claimOf('delete.0', { status: 'fail', allowed });
    const young = buildOf('new', [caseOf('delete', [failing])]);
    assert.equal(compared(build('old', ['unmeasured']), young).changes[0]?.open, open);
  }
});

const statuses = fc.array(fc.constantFrom(...STATUSES), { minLength: 1, maxLength: 8 });
const pairs = fc.array(fc.tuple(fc.constantFrom(...STATUSES), fc.constantFrom(...STATUSES)), {
  minLength: 1,
  maxLength: 8,
});

describe('all claims', () => {
  test('a build against itself never fails', () => {
    fc.assert(
      fc.property(statuses, (found) => {
        const comparison = compared(build('old', found), build('new', found));
        assert.notEqual(comparisonVerdict(comparison, [], true), 'fail');
      }),
    );
  });

  test('what is fixed one way is a regression the other way', () => {
    fc.assert(
      fc.property(pairs, (found) => {
        const [old, young] = [found.map(([was]) => was), found.map(([, is]) => is)];
        const ids = (comparison: ComparisonReport, change: string): string[] =>
          comparison.changes.filter((one) => one.change === change).map((one) => one.claim);
        const there = compared(build('old', old), build('new', young));
        const back = compared(build('old', young), build('new', old));
        assert.deepEqual(ids(there, 'fixed'), ids(back, 'regressed'));
        assert.deepEqual(ids(there, 'regressed'), ids(back, 'fixed'));
      }),
    );
  });

  test('a regression fails, unless it is allowed; what is open or cut leaves it undecided', () => {
    fc.assert(
      fc.property(pairs, fc.boolean(), (found, whole) => {
        const comparison = compared(
          build(
            'old',
            found.map(([was]) => was),
          ),
          build(
            'new',
            found.map(([, is]) => is),
          ),
        );
        const verdict = comparisonVerdict(comparison, [], whole);
        const regressed = comparison.changes.some((one) => one.change === 'regressed');
        assert.equal(verdict === 'fail', regressed);
        if (verdict === 'pass') assert.ok(whole && comparison.changes.every((one) => !one.open));
        const allowed = comparison.changes.map((one) => ({ ...one, allowed: 'it is known' }));
        assert.notEqual(comparisonVerdict({ ...comparison, changes: allowed }, [], whole), 'fail');
        const stale = [{ claim: 'delete.0', reason: 'it was known', stale: true }];
        assert.equal(comparisonVerdict(comparison, stale, whole), 'fail');
      }),
    );
  });
});

describe('a claim that fails on both', () => {
  const change = (was: number, is: number): string | undefined =>
    compared(build('old', ['fail'], was), build('new', ['fail'], is)).changes[0]?.change;
  test('is a regression where the candidate keeps or drops more', () => {
    assert.equal(change(3, 400), 'regressed');
    assert.equal(change(-3, -400), 'regressed');
  });
  test('is none where it keeps as many, fewer, or more by chance', () => {
    assert.equal(change(400, 400), 'same');
    assert.equal(change(400, 3), 'same');
    assert.equal(change(3, 5), 'same');
  });
});

test('packages, configuration and sizes that differ are listed, and no others', () => {
  const old = buildOf('old', [caseOf('delete', [])], {
    packages: { mcp: '1', anyio: '4' },
    config: { workers: 2 },
  });
  const young = buildOf(
    'new',
    [caseOf('delete', [], { size: { sessions: 50, warmUp: 100, concurrency: 8 } })],
    {
      packages: { mcp: '2', anyio: '4' },
    },
  );
  assert.deepEqual(compared(old, young).differences, [
    { name: 'mcp', baseline: '1', candidate: '2' },
    { name: 'sessions (delete)', baseline: '100 + 300', candidate: '100 + 50' },
    { name: 'workers', baseline: '2', candidate: null },
  ]);
});
