/** What enters and leaves a watched registry is counted exactly, and what cannot be counted is refused. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { snapshotSchema } from '../../src/observe/snapshot.ts';
import { saysEnded } from '../../src/probe/ended.ts';
import { countRegistry, type Registry, type RegistryCounts } from '../../src/probe/registry.ts';
import { snapshotOf } from '../../src/probe/snapshot.ts';
import { UsageError } from '../../src/targets/target.ts';

const identityDrift = (counts: RegistryCounts): number =>
  counts.registered - (counts.registeredAtStart + counts.registrations - counts.removals);

const add = (registry: Registry, key: number): unknown =>
  registry instanceof Map ? registry.set(key, { closed: false }) : registry.add(key);

/** Empties itself by its own delete, as a registry that ends its sessions does. */
class Tidy extends Map<unknown, unknown> {
  override clear(): void {
    for (const key of [...this.keys()]) this.delete(key);
  }
}

/** Never holds more than three: the oldest one leaves when another enters. */
class Bounded extends Map<unknown, unknown> {
  override set(key: unknown, value: unknown): this {
    if (this.size === 3 && !this.has(key)) this.delete(this.keys().next().value);
    return super.set(key, value);
  }
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('add' as const), key: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('delete' as const), key: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), key: fc.constant(0) }) },
);

describe('a watched registry', () => {
  for (const make of [() => new Map(), () => new Set(), () => new Tidy(), () => new Bounded()])
    test(`counts exactly: ${make().constructor.name}`, () =>
      fc.assert(
        fc.property(fc.array(fc.nat(5), { maxLength: 3 }), fc.array(step), (before, steps) => {
          const registry: Registry = make();
          for (const key of before) add(registry, key);
          const watch = countRegistry(registry);
          let [registrations, removals] = [0, 0];
          for (const one of steps) {
            const held = new Set(registry.keys());
            if (one.do === 'add') add(registry, one.key);
            else if (one.do === 'delete') registry.delete(one.key);
            else registry.clear();
            const now = new Set(registry.keys());
            registrations += [...now].filter((key) => !held.has(key)).length;
            removals += [...held].filter((key) => !now.has(key)).length;
          }
          const counts = watch.counts();
          assert.deepEqual([counts.registrations, counts.removals], [registrations, removals]);
          assert.equal(counts.registeredAtStart, new Set(before).size);
          assert.equal(identityDrift(counts), 0);
          watch.stop();
          assert.deepEqual(Object.getOwnPropertyNames(registry), []);
        }),
      ));

  test('gives the results that the registry itself gives', () => {
    const map = new Map<unknown, unknown>();
    const watch = countRegistry(map);
    assert.equal(map.set('a', 1), map);
    assert.equal(map.delete('a'), true);
    assert.equal(map.delete('a'), false);
    assert.deepEqual(Object.keys(map), []);
    watch.stop();
  });

  test('what changes it by another way shows as identity drift', () => {
    const map = new Map<unknown, unknown>([['a', 1]]);
    const watch = countRegistry(map);
    Map.prototype.set.call(map, 'b', 2);
    assert.equal(identityDrift(watch.counts()), 1);
    watch.stop();
  });

  test('what is put in front of its methods meanwhile stays there', () => {
    const map = new Map<unknown, unknown>();
    const watch = countRegistry(map);
    const seen: unknown[] = [];
    const ours = map.set.bind(map);
    map.set = (key, value) => {
      seen.push(key);
      return ours(key, value);
    };
    watch.stop();
    map.set('a', 1);
    assert.deepEqual([seen, map.size], [['a'], 1]);
  });

  test('what cannot be counted exactly is refused with a sentence', () => {
    const refused = (registry: unknown, sentence: RegExp): void =>
      assert.throws(
        () => countRegistry(registry as Registry),
        (error) => error instanceof UsageError && sentence.test(error.message),
      );
    for (const other of [{}, [], () => 0, new WeakMap(), null])
      refused(other, /^registry: only a Map or a Set/);
    refused(Object.freeze(new Map()), /frozen/);
    const map = new Map();
    const watch = countRegistry(map);
    refused(map, /watched already/);
    watch.stop();
    countRegistry(map).stop();
  });
});

test('remnants are counted where entries say that they have ended, and are unknown where one does not', () => {
  const map = new Map<unknown, unknown>([
    ['a', { closed: true }],
    ['b', { transport: { _webStandardTransport: { _closed: true } } }],
    ['c', { closed: false }],
  ]);
  const watch = countRegistry(map);
  assert.equal(watch.counts().remnants, 2);
  const told = snapshotOf(watch.counts()).managers[0];
  assert.ok(told && !told.unknown?.includes('remnants'));
  map.set('d', {});
  assert.equal(watch.counts().remnants, null);
  assert.ok(snapshotOf(watch.counts()).managers[0]?.unknown?.includes('remnants'));
  snapshotSchema.parse(snapshotOf(watch.counts()));
  watch.stop();
});

test('an entry is only read', () => {
  const throwing = {
    get closed(): boolean {
      throw new Error('not yet');
    },
  };
  for (const entry of [null, undefined, 'id', 1, {}, throwing, { closed: 'no' }])
    assert.equal(saysEnded(entry), null);
  const circle: Record<string, unknown> = {};
  circle.transport = circle;
  assert.equal(saysEnded(circle), null);
});
