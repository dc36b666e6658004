/** What the probe's contract refuses although each field by itself is right: a reader would add up or overwrite it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { snapshotSchema, type ManagerSnapshot, type Snapshot } from '../../src/observe/snapshot.ts';

const golden = (): Snapshot =>
  snapshotSchema.parse(
    JSON.parse(readFileSync(new URL('../golden/probe-snapshot.v1.json', import.meta.url), 'utf8')),
  );

function changed(change: (manager: ManagerSnapshot, snapshot: Snapshot) => void): Snapshot {
  const snapshot = golden();
  const [manager] = snapshot.managers;
  assert.ok(manager);
  change(manager, snapshot);
  return snapshot;
}

const buckets = (...pairs: readonly (readonly [le: number, count: number])[]) =>
  changed(({ endedSessionDurations }) => {
    endedSessionDurations.buckets = pairs.map(([le, count]) => ({ le, count }));
  });

describe('a snapshot is refused whole', () => {
  const refused: Record<string, [Snapshot, string]> = {
    'where two managers have one id': [
      changed((manager, { managers }) => managers.push({ ...manager, registered: 9 })),
      'managers.1.manager',
    ],
    'where an idle age stands twice': [
      changed(({ idleOlderThan }) => idleOlderThan.push({ seconds: 60, sessions: 1 })),
      'managers.0.idleOlderThan.8.seconds',
    ],
    'where a bucket stands twice': [buckets([1, 3], [1, 3]), 'managers.0.endedSessionDurations.buckets.1.le'],
    'where buckets descend': [buckets([10, 3], [1, 3]), 'managers.0.endedSessionDurations.buckets.1.le'],
    'where buckets are not cumulative': [
      buckets([1, 3], [10, 2]),
      'managers.0.endedSessionDurations.buckets.1.count',
    ],
    'where a bucket holds more than all': [
      buckets([1, 8]),
      'managers.0.endedSessionDurations.buckets.0.count',
    ],
  };
  for (const [name, [snapshot, place]] of Object.entries(refused))
    test(name, () => {
      const { error } = snapshotSchema.safeParse(snapshot);
      assert.deepEqual(
        error?.issues.map(({ path }) => path.join('.')),
        [place],
      );
    });
});

test('other ids, other ages, equal counts and no buckets at all are a snapshot', () => {
  for (const snapshot of [
    changed((manager, { managers }) => managers.push({ ...manager, manager: '1' })),
    changed(({ idleOlderThan }) => idleOlderThan.reverse()),
    buckets([1, 3], [10, 3], [60, 7]),
    buckets(),
  ])
    assert.ok(snapshotSchema.safeParse(snapshot).success);
});

test('a large snapshot that repeats nothing is read in a moment, however many entries it has', () => {
  const many = changed(({ idleOlderThan }) => {
    idleOlderThan.length = 0;
    for (let seconds = 0; seconds < 200_000; seconds++) idleOlderThan.push({ seconds, sessions: 0 });
  });
  const began = performance.now();
  assert.ok(snapshotSchema.safeParse(many).success);
  // Comparing each with each takes minutes.
  assert.ok(performance.now() - began < 15_000);
});
