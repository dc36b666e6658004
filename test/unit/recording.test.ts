import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { assemble, readRecording, UnreadableRecording } from '../../src/recording/reader.ts';
import { RECORDING_SCHEMA, type HeaderRecord } from '../../src/recording/schema.ts';
import { RecordingError, RecordingWriter } from '../../src/recording/writer.ts';

const folder = mkdtempSync(join(tmpdir(), 'recording-'));
after(() => rmSync(folder, { recursive: true }));

const header: HeaderRecord = {
  type: 'header',
  schema: RECORDING_SCHEMA,
  tool: { name: 'mcp-retention', version: '0.0.0' },
  host: { os: 'linux', arch: 'x64', cpus: 2, memoryBytes: 1, node: 'v20' },
  startedAt: '2026-01-01T00:00:00Z',
  command: 'check x',
  seed: 1,
  policy: { idleMaxSeconds: null, maxSessions: null },
  sampleEveryMs: 100,
};
const arm = {
  type: 'arm',
  t: 1,
  arm: 'a1',
  build: 'b',
  case: 'delete',
  settings: {},
  lacks: [],
  size: { sessions: 1, warmUp: 0, concurrency: 1 },
  promised: [],
  notPromised: [],
};
const op = {
  type: 'op',
  t: 2,
  ms: 1,
  arm: 'a1',
  stage: 'load',
  session: 'load:0',
  step: 'open',
  outcome: 'ok',
  status: 200,
};
const lines = (...records: object[]): string[] => records.map((record) => JSON.stringify(record));

test('what is written is read back', async () => {
  const path = join(folder, 'whole.ndjson');
  const writer = new RecordingWriter(path, header);
  writer.write({ type: 'notice', code: 'x', text: 'hello' });
  writer.end('complete');
  const recording = await readRecording(path);
  assert.equal(recording.notices[0]?.text, 'hello');
  assert.equal(recording.end?.reason, 'complete');
  assert.deepEqual(recording.damage, []);
});

test('what was written so far is on disk before the end', () => {
  const path = join(folder, 'open.ndjson');
  const writer = new RecordingWriter(path, header);
  for (let i = 0; i < 2000; i++)
    writer.write({ type: 'notice', code: 'x', text: 'a line of some length to fill the buffer' });
  assert.ok(readFileSync(path, 'utf8').split('\n').length > 500);
  writer.end('interrupted');
});

test('an existing recording is never overwritten', () => {
  const path = join(folder, 'kept.ndjson');
  writeFileSync(path, 'mine');
  assert.throws(() => new RecordingWriter(path, header), RecordingError);
  assert.equal(readFileSync(path, 'utf8'), 'mine');
});

test('a cut recording gives what it has', async () => {
  const recording = await assemble([...lines(header, arm, op), '{"type":"op","t":3,"ms'], 'cut');
  assert.equal(recording.arms[0]?.ops.length, 1);
  assert.equal(recording.end, null);
  assert.match(recording.damage[0] ?? '', /^line 4 is cut or no JSON/);
});

test('damaged lines are passed over and named', async () => {
  const recording = await assemble(
    lines(header, arm, { ...op, outcome: 'maybe' }, op, { ...op, arm: 'a9' }, { type: 'x' }),
    'damaged',
  );
  assert.equal(recording.arms[0]?.ops.length, 1);
  assert.deepEqual(
    recording.damage.map((text) => /^line \d+/.exec(text)?.[0]),
    ['line 3', 'line 5', 'line 6'],
  );
});

test('a file that is no recording, or one of another version, is refused in one sentence', async () => {
  await assert.rejects(assemble([], 'f'), /f is empty/);
  await assert.rejects(assemble(['hello'], 'f'), /f is no recording/);
  await assert.rejects(
    assemble(lines({ ...header, schema: 'mcp-retention/recording/v9' }), 'f'),
    /another version \(mcp-retention\/recording\/v9\)/,
  );
  await assert.rejects(readRecording(join(folder, 'absent.ndjson')), UnreadableRecording);
  await assert.rejects(readRecording(folder), UnreadableRecording);
});
