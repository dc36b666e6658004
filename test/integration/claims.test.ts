/** Each claim is seen to fail on a server that is guilty of breaking it, and to pass on one that is not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CASES } from '../../src/cases/index.ts';
import { CLAIMS } from '../../src/verdict/claims/index.ts';
import { FAULTS, type Fault } from '../fixtures/servers/suspect/faults.ts';
import { measure, statuses, suspectConfig } from '../support/measure.ts';

const faults: [string, Fault][] = Object.entries(FAULTS);

/** Where a claim of every case is looked at. */
const caseOf = (claim: string): string =>
  CASES.find((known) => claim.startsWith(`${known.id}.`))?.id ?? 'delete';

test('every claim has a server that is guilty of breaking it', () => {
  const covered = new Set(faults.flatMap(([, fault]) => fault.breaks));
  assert.deepEqual(
    [...CLAIMS.keys()].filter((claim) => !covered.has(claim)),
    [],
  );
});

test('a clean server passes every claim', async () => {
  const { report } = await measure('suspect', { config: suspectConfig(null) });
  const found = statuses(report);
  assert.deepEqual(
    [...found].filter(([, status]) => status !== 'pass'),
    [],
  );
  assert.equal(
    found.size,
    CASES.reduce((sum, definition) => sum + definition.claims.length, 0),
  );
  assert.equal(report.verdict, 'pass');
});

describe('a guilty server fails the claims that it breaks', { concurrency: 3 }, () => {
  for (const [name, fault] of faults.filter(([, candidate]) => candidate.breaks.length > 0)) {
    test(`${name}: ${fault.says}`, async () => {
      const cases = [...new Set(fault.breaks.map(caseOf))];
      const { report } = await measure('suspect', { config: suspectConfig(name), cases, sessions: 40 });
      const found = statuses(report);
      const failed = [...found]
        .filter(([, status]) => status === 'fail')
        .map(([claim]) => claim.replace(/ \(.*/, ''));
      for (const claim of fault.breaks)
        assert.ok(failed.includes(claim), `${claim} did not fail: ${JSON.stringify([...found])}`);
      assert.equal(report.verdict, 'fail');
    });
  }
});

describe('what breaks no claim is not blamed', { concurrency: 3 }, () => {
  for (const name of ['memory-only', 'slow-answers'])
    test(name, async () => {
      const { report } = await measure('suspect', {
        config: suspectConfig(name),
        cases: ['delete', 'reject'],
        sessions: 40,
      });
      assert.equal(report.verdict, 'pass', JSON.stringify([...statuses(report)]));
    });
  for (const name of ['probe-hangs', 'probe-garbage', 'probe-dies'])
    test(`${name}: registry claims are unmeasured, never passed`, async () => {
      const { report } = await measure('suspect', {
        config: suspectConfig(name),
        cases: ['delete'],
        sessions: 100,
      });
      const found = statuses(report);
      assert.equal(found.get('delete.deregisters'), 'unmeasured');
      assert.equal(found.get('delete.accepted'), 'pass');
      assert.equal(report.verdict, 'inconclusive');
    });
});
