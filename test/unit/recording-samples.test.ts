/** Samples are kept in columns: what is read must be what was written, and what is wrong must be called so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NumberColumn, StringColumn } from '../../src/recording/column.ts';
import { isSample } from '../../src/recording/parse.ts';
import { Samples } from '../../src/recording/samples.ts';
import { managerSample, sampleRecord, type SampleRecord } from '../../src/recording/schema.ts';
import { manager, recordingOf, sample, samples } from '../support/recordings.ts';

const CHUNK = 4096;

test('a column gives back the numbers that it was given, whatever their kind', () => {
  const kinds: Record<string, (i: number) => number> = {
    equal: () => 7,
    bytes: (i) => 1e9 + (i % 256),
    words: (i) => 5 - (i % 65_536),
    longs: (i) => (i * 2_654_435_761) % 2 ** 32,
    wide: (i) => (i % 2 === 0 ? 0 : Number.MAX_SAFE_INTEGER),
    fractions: (i) => i / 7,
    missing: (i) => (i % 3 === 0 ? NaN : i),
    huge: (i) => (i % 2 === 0 ? 1e300 : -1e300),
    never: () => NaN,
    late: (i) => (i === CHUNK - 1 ? 0.5 : 3),
  };
  for (const [kind, value] of Object.entries(kinds)) {
    const column = new NumberColumn();
    const length = 3 * CHUNK + 5;
    for (let i = 0; i < length; i++) column.push(value(i));
    assert.equal(column.length, length);
    for (let i = 0; i < length; i++)
      if (!Object.is(column.get(i), value(i)))
        assert.fail(`${kind} at ${i}: ${column.get(i)} for ${value(i)}`);
    assert.ok(Number.isNaN(column.get(length)), kind);
    assert.ok(Number.isNaN(column.get(-1)), kind);
  }
});

test('a column of strings keeps absent apart from empty', () => {
  const column = new StringColumn();
  for (const text of ['a', '', undefined, 'a', 'undefined']) column.push(text);
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((i) => column.get(i)),
    ['a', '', undefined, 'a', 'undefined'],
  );
});

test('samples come back as they were written, through the reader', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(samples, { maxLength: 20 }), async (records) => {
      const recording = await recordingOf(...records);
      assert.deepEqual(recording.damage, []);
      const read = recording.arms[0]?.samples;
      assert.ok(read);
      const written = records.map((record) => sampleRecord.parse(record));
      assert.deepEqual([...read], written);
      assert.equal(read.length, written.length);
      assert.deepEqual(read.at(-1), written.at(-1));
      assert.deepEqual(read.at(written.length), undefined);
      assert.deepEqual(
        read.filter(({ settled }) => settled),
        written.filter(({ settled }) => settled),
      );
      assert.deepEqual(
        read.findLast(({ memory }) => memory),
        written.findLast(({ memory }) => memory),
      );
      const [first, last] = [0, written.length - 1];
      if (last > 0) assert.deepEqual([...read.pick([last, first])], [written[last], written[first]]);
    }),
    { numRuns: 60 },
  );
});

test('fifty thousand samples are the same as those read one by one by the schema', async () => {
  const written = Array.from({ length: 50_000 }, (_, i) => changing(i));
  const recording = await recordingOf(...written);
  const read = recording.arms[0]?.samples ?? new Samples('none');
  assert.equal(read.length, written.length);
  let place = 0;
  for (const record of read) {
    const wanted = sampleRecord.parse(written[place++]);
    if (JSON.stringify(sorted(record)) !== JSON.stringify(sorted(wanted))) assert.deepEqual(record, wanted);
  }
  assert.equal(place, written.length);
});

/** Fields that change often, seldom, once and never. */
function changing(i: number): SampleRecord {
  const own = {
    registered: i % 300,
    registrations: i,
    removals: i - (i % 300),
    takenAt: 1_700_000_000 + i / 10,
  };
  return sample(i * 100.25, {
    sessions:
      i % 1000 === 999
        ? null
        : {
            supported: i % 5000 !== 7,
            managers: [manager(own), ...(i > 40_000 ? [manager({ worker: '2' })] : [])],
          },
    memory: {
      rssBytes: 60e6 + 4096 * (i % 77),
      fds: i % 40 === 0 ? null : 12,
      children: 0,
      limitBytes: 25e9,
    },
    requests: 4 * i,
    ...(i % 9999 === 0 && { settled: true }),
    ...(i % 1000 === 999 && { reason: 'no probe answers' }),
  });
}

const sorted = (value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(
        Object.entries(value)
          .sort()
          .map(([key, inner]) => [key, sorted(inner)]),
      );

/** Every place in a value, as a path. */
const pathsIn = (value: unknown, path: readonly string[] = []): (readonly string[])[] => [
  path,
  ...(typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...path, key]))
    : []),
];

/** undefined: takes it out. */
function withAt(value: unknown, [key, ...rest]: readonly string[], put: unknown): unknown {
  if (key === undefined) return put;
  if (Array.isArray(value))
    return (value as unknown[]).map((one, i) => (String(i) === key ? withAt(one, rest, put) : one));
  const { [key]: inner, ...others } = value as Record<string, unknown>;
  const changed = withAt(inner, rest, put);
  return changed === undefined ? others : { ...others, [key]: changed };
}

test('the quick check of samples answers as the schema does, for any field made wrong', () => {
  const wrong = fc.oneof(
    fc.constantFrom<unknown>(
      undefined,
      null,
      -1,
      0,
      -0.5,
      0.5,
      2 ** 53,
      1e300,
      true,
      '',
      '5',
      [],
      {},
      [1],
      'sample',
    ),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(samples, fc.nat(), wrong, (record, place, put) => {
      const paths = pathsIn(record);
      const made = withAt(record, paths[place % paths.length] ?? [], put);
      const broken: unknown = JSON.parse(JSON.stringify(made) ?? 'null');
      assert.equal(isSample(broken), sampleRecord.safeParse(broken).success, JSON.stringify(broken));
    }),
    { numRuns: 2000 },
  );
});

test('the quick check and the columns know every field of the schema', () => {
  const record = sample(1, {
    settled: true,
    sessions: { supported: true, managers: [manager({ unknown: ['remnants'] })] },
    reason: 'why',
  });
  const known = pathsIn(record).map((path) => path.join('.'));
  const fields = (shape: object, path: string): string[] => Object.keys(shape).map((key) => path + key);
  for (const field of [
    ...fields(sampleRecord.shape, ''),
    ...fields(sampleRecord.shape.sessions.unwrap().shape, 'sessions.'),
    ...fields(sampleRecord.shape.memory.unwrap().shape, 'memory.'),
    ...fields(managerSample.shape, 'sessions.managers.0.'),
  ]) {
    assert.ok(known.includes(field), `${field} is new: the check, the columns and the tests must learn it`);
    assert.equal(isSample(withAt(record, field.split('.'), { wrong: true })), false, field);
  }
  assert.deepEqual([...new Samples('a1', [record])], [record]);
});

test('a wrong field of a sample is damage, by line and field', async () => {
  const bad = sample(2, { sessions: { supported: true, managers: [manager({ registered: -1 })] } });
  const recording = await recordingOf(sample(1), bad, { ...sample(3), memory: 5 }, sample(4));
  assert.deepEqual(
    recording.arms.flatMap(({ samples: read }) => [...read].map(({ t }) => t)),
    [1, 4],
  );
  assert.match(
    recording.damage[0] ?? '',
    /^line 4 is no record of this version \(sessions\.managers\.0\.registered: /,
  );
  assert.match(recording.damage[1] ?? '', /^line 5 is no record of this version \(memory: /);
});
