import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  arrivalSeconds,
  DEFAULT_MIX,
  KINDS,
  planOfArrival,
  type Kind,
  type Mix,
} from '../../src/cases/mixed.ts';
import { mix } from '../../src/cli/load-options.ts';

const seeds = fc.nat({ max: 2 ** 31 - 2 });
const mixes: fc.Arbitrary<Mix> = fc
  .dictionary(fc.constantFrom(...KINDS), fc.double({ min: 0.1, max: 100, noNaN: true }), { minKeys: 1 })
  .map((shares) => shares as Mix);

test('property: the schedule follows from seed and index alone, whoever asks and in whatever order', () => {
  fc.assert(
    fc.property(seeds, mixes, fc.array(fc.nat({ max: 1e6 }), { maxLength: 20 }), (seed, shares, indices) => {
      const at = (index: number): unknown => [
        arrivalSeconds(seed, index, 5),
        planOfArrival(seed, index, shares),
      ];
      const one = indices.map(at);
      const other = [...indices].reverse().map(at).reverse();
      assert.deepEqual(one, other);
    }),
  );
});

test('property: arrivals are in order, one in each interval of the rate', () => {
  fc.assert(
    fc.property(
      seeds,
      fc.double({ min: 0.01, max: 1000, noNaN: true }),
      fc.nat({ max: 1e6 }),
      (seed, rate, index) => {
        const at = arrivalSeconds(seed, index, rate);
        assert.ok(index / rate <= at && at <= (index + 1) / rate);
      },
    ),
  );
});

test('property: only kinds of the mix arrive', () => {
  fc.assert(
    fc.property(seeds, mixes, fc.nat({ max: 1e6 }), (seed, shares, index) => {
      assert.ok((shares[planOfArrival(seed, index, shares).kind] ?? 0) > 0);
    }),
  );
});

test('kinds arrive by their shares', () => {
  const arrived = new Map<Kind, number>();
  const count = 20_000;
  for (let i = 0; i < count; i++) {
    const { kind } = planOfArrival(7, i);
    arrived.set(kind, (arrived.get(kind) ?? 0) + 1);
  }
  for (const kind of KINDS) {
    const share = (100 * (arrived.get(kind) ?? 0)) / count;
    assert.ok(Math.abs(share - (DEFAULT_MIX[kind] ?? 0)) < 1, `${kind}: ${share} %`);
  }
});

test('every plan opens once at most, and none but that of abandon leaves its session', () => {
  for (const kind of KINDS) {
    const { plans } = planOfArrival(1, 3, { [kind]: 1 });
    for (const steps of plans.map((plan) => plan.map((step) => step.do))) {
      assert.ok(steps.filter((step) => step === 'open').length <= 1);
      assert.equal(steps.includes('drop'), kind === 'abandon');
      assert.equal(steps.at(-1) === 'delete', kind !== 'abandon' && kind !== 'reject');
    }
  }
});

test('a mix is read as it is written', () => {
  assert.deepEqual(mix('delete=60, keep-alive=0.5'), { delete: 60, 'keep-alive': 0.5 });
});

for (const [text, says] of [
  ['delete=60,bogus=1', /no kind bogus: known are delete, abandon/],
  ['', /no kind without a name/],
  ['delete=0', /share of delete must be a positive number/],
  ['delete=-1', /share of delete must be a positive number/],
  ['delete=1e999', /share of delete must be a positive number/],
  ['delete', /share of delete must be a positive number/],
  ['delete=1,delete=2', /delete stands twice/],
] as const)
  test(`the mix "${text}" is refused in one sentence`, () => {
    assert.throws(() => mix(text), says);
  });
