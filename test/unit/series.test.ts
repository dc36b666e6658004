/** What is drawn: fewer points than samples, and every extreme, judged sample and restart among them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ManagerSample, SampleRecord } from '../../src/recording/schema.ts';
import { seriesOf, type ArmSeries } from '../../src/verdict/series.ts';
import { thin } from '../../src/verdict/thin.ts';
import { BUILD, manager, recordingOf, sample } from '../support/recordings.ts';

const MOST = 1200;

async function drawn(...records: readonly object[]): Promise<ArmSeries> {
  const [series] = seriesOf(await recordingOf(BUILD, ...records));
  assert.ok(series);
  const columns = [
    series.registered,
    series.expectedMin,
    series.expectedMax,
    series.identityDrift,
    series.memoryMib,
  ];
  for (const column of [...columns, series.requests]) assert.equal(column.length, series.seconds.length);
  for (const [i, second] of series.seconds.entries())
    if (i > 0) assert.ok(second >= (series.seconds[i - 1] ?? 0));
  return series;
}

const counted = (t: number, own: Partial<ManagerSample>, more: Partial<SampleRecord> = {}): SampleRecord =>
  sample(t, { sessions: { supported: true, managers: [manager({ takenAt: t, ...own })] }, ...more });

test('few samples are drawn as they are', async () => {
  const series = await drawn(
    counted(1000, { registered: 2, registrations: 2 }, { requests: 3 }),
    sample(2000, { sessions: null, memory: null, requests: 5, reason: 'no probe answers' }),
    counted(3500, { registered: 1, registrations: 2 }, { requests: 9 }),
  );
  assert.deepEqual(series.seconds, [1, 2, 3.5]);
  assert.deepEqual(series.registered, [2, null, 1]);
  assert.deepEqual(series.expectedMax, [2, null, 2]);
  assert.deepEqual(series.identityDrift, [0, null, -1]);
  assert.deepEqual(series.memoryMib, [1, null, 1]);
  assert.deepEqual(series.requests, [3, 5, 9]);
  assert.equal(series.samples, 3);
  assert.equal(series.note, null);
});

test('one odd sample in thirty thousand is drawn, whichever curve is odd', async () => {
  const odd: Readonly<Record<number, Partial<ManagerSample>>> = {
    7_001: { registered: 9, registrations: 9 },
    15_555: { registered: 3, registrations: 5 },
    21_003: { registered: 5, registrations: 5, removals: 4 },
  };
  const memory = { rssBytes: 9 * 1024 ** 2, fds: null, children: null, limitBytes: null };
  const records = Array.from({ length: 30_000 }, (_, i) =>
    counted(
      i * 10,
      odd[i] ?? { registered: 5, registrations: 5 },
      i === 28_111 ? { memory } : i === 12_345 ? { settled: true } : {},
    ),
  );
  const series = await drawn(...records);
  assert.equal(series.samples, 30_000);
  assert.ok(series.seconds.length <= MOST, `${series.seconds.length} points`);
  const at = (place: number): number => series.seconds.indexOf(place / 100);
  for (const place of [0, 7_001, 12_345, 15_555, 21_003, 28_111, 29_999])
    assert.ok(at(place) >= 0, `place ${place}`);
  assert.equal(series.registered[at(7_001)], 9);
  assert.equal(series.registered[at(15_555)], 3);
  assert.equal(series.identityDrift[at(15_555)], -2);
  assert.equal(series.identityDrift[at(21_003)], 4);
  assert.equal(series.memoryMib[at(28_111)], 9);
  // In between, the picture is as dense as elsewhere.
  for (let i = 1; i < series.seconds.length; i++)
    assert.ok((series.seconds[i] ?? 0) - (series.seconds[i - 1] ?? 0) < 5, 'a hole');
});

test('thinning keeps the extremes, the ends and what it is told to, and its bound', () => {
  const values = fc.array(fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constant(NaN)), {
    minLength: 1,
    maxLength: 900,
  });
  fc.assert(
    fc.property(
      fc.array(values, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 24, max: 200 }),
      fc.nat(),
      (all, most, any) => {
        const length = Math.min(...all.map((one) => one.length));
        const always = [any % length];
        const curves = all.map((one) => (place: number) => one[place] ?? NaN);
        const places = thin(length, curves, always, most);
        assert.ok(places.length <= most);
        assert.deepEqual(
          places,
          [...new Set(places)].sort((a, b) => a - b),
        );
        for (const place of [0, length - 1, ...always]) assert.ok(places.includes(place));
        for (const curve of curves) {
          const extremes = (of: readonly number[]) => {
            const known = of.map(curve).filter((value) => !Number.isNaN(value));
            return [Math.min(...known), Math.max(...known)];
          };
          assert.deepEqual(extremes(places), extremes([...Array(length).keys()]));
        }
      },
    ),
  );
});

test('more settled samples than are drawn are thinned as others are', async () => {
  const records = Array.from({ length: 5000 }, (_, i) =>
    counted(i * 10, { registered: i % 3 }, { settled: true }),
  );
  const series = await drawn(...records);
  assert.ok(series.seconds.length <= MOST);
});

test('no line joins what was before a restart to what came after it', async () => {
  const died = { type: 'target', t: 2500, arm: 'a1', event: 'died', reason: 'SIGKILL' };
  const series = await drawn(
    counted(1000, { registered: 4, registrations: 4 }),
    counted(2000, { registered: 5, registrations: 5 }, { requests: 7 }),
    died,
    counted(9000, { registered: 1, registrations: 1, startedAt: 300 }, { requests: 8 }),
    counted(9500, { registered: 1, registrations: 1, startedAt: 300 }, { requests: 8 }),
  );
  assert.deepEqual(series.seconds, [1, 2, 5.5, 9, 9.5]);
  assert.deepEqual(series.registered, [4, 5, null, 1, 1]);
  assert.deepEqual(series.memoryMib, [1, 1, null, 1, 1]);
  assert.deepEqual(series.requests, [0, 7, 7, 8, 8]);
  assert.deepEqual(series.restarts, [2.5, 9]);
});

test('another process that answers is a restart without a word of the supervisor; a further worker is none', async () => {
  const two = { supported: true, managers: [manager({ registrations: 2 }), manager({ worker: '2' })] };
  const series = await drawn(
    counted(1000, { registrations: 1 }),
    sample(2000, { sessions: two }),
    sample(3000, { sessions: null }),
    counted(4000, { startedAt: 500 }),
  );
  assert.deepEqual(series.restarts, [4]);
  assert.deepEqual(series.registered, [0, 0, null, null, 0]);
});

test('the samples beside a restart are drawn, and so is the gap, in a long recording', async () => {
  const records = Array.from({ length: 20_000 }, (_, i) =>
    counted(i * 10 + (i >= 9_873 ? 60_000 : 0), { startedAt: i >= 9_873 ? 300 : 100 }),
  );
  const series = await drawn(...records);
  assert.deepEqual(series.restarts, [158.73]);
  const gap = series.registered.indexOf(null);
  assert.deepEqual(series.seconds.slice(gap - 1, gap + 2), [98.72, 128.725, 158.73]);
});

test('an arm without samples, and one without counts, say so', async () => {
  const end = { type: 'arm-end', t: 9, arm: 'a1', outcome: 'failed', reason: 'The server did not start.' };
  const empty = await drawn(end);
  assert.deepEqual(empty.seconds, []);
  assert.equal(empty.note, 'No sample was taken: The server did not start.');
  assert.equal((await drawn()).note, 'No sample was taken.');
  const blind = await drawn(sample(1, { sessions: null, reason: 'no probe answers' }), end);
  assert.equal(blind.note, 'Registered sessions could not be read: no probe answers.');
  assert.deepEqual(blind.memoryMib, [1]);
});
