import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { batches, median, robustSlope, slope } from '../../src/verdict/statistics.ts';

const line = (n: number, at: (x: number) => number) => Array.from({ length: n }, (_, x) => ({ x, y: at(x) }));

test('median: middle value, or the mean of both', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
});

test('property: the slope of a straight line is found, a third of wild points or not', () => {
  fc.assert(
    fc.property(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 12, max: 40 }), (k, n) => {
      const points = line(n, (x) => k * x + 7).map((p) => (p.x % 5 === 4 ? { ...p, y: p.y + 1e6 } : p));
      assert.ok(Math.abs(slope(points) - k) < 1e-6);
    }),
  );
});

test('steps of a healthy process give an interval that holds zero; a leak gives one that holds its size', () => {
  const steps = line(60, (x) => 70_000 + (x > 20 ? 512 : 0) + ((x * 7919) % 13));
  const healthy = robustSlope(steps);
  assert.ok(healthy && healthy.low <= 0.5 && healthy.estimate < 20, JSON.stringify(healthy));
  const leaking = robustSlope(line(60, (x) => 70_000 + 41 * x + ((x * 7919) % 97)));
  assert.ok(leaking && leaking.low > 35 && leaking.high < 47, JSON.stringify(leaking));
});

test('too few points, or none that differ, give no estimate', () => {
  assert.equal(robustSlope(line(7, (x) => x)), null);
  assert.equal(robustSlope(Array.from({ length: 20 }, () => ({ x: 1, y: 2 }))), null);
});

test('the same points give the same interval', () => {
  const points = line(40, (x) => 3 * x + ((x * 31) % 7));
  assert.deepEqual(robustSlope(points), robustSlope(points));
});

test('property: batches never exceed their number and keep the range', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), (n) => {
      const out = batches(line(n, (x) => x));
      assert.ok(out.length <= 60 && out.length >= Math.min(n, 30));
    }),
  );
});
