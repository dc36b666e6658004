import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { assemble, readRecording, UnreadableRecording } from '../../src/recording/reader.ts';
import { RecordingError, RecordingWriter } from '../../src/recording/writer.ts';
import { ARM as arm, HEADER as header, lines } from '../support/recordings.ts';

const folder = mkdtempSync(join(tmpdir(), 'recording-'));
after(() => rmSync(folder, { recursive: true }));

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

test('what was cut out or added by hand is damage', async () => {
  const armEnd = { type: 'arm-end', t: 3, arm: 'a1', outcome: 'measured' };
  const end = { type: 'end', t: 4, reason: 'complete' };
  const damage = async (...records: object[]): Promise<string> =>
    (await assemble(lines(header, ...records))).damage.join('\n');
  assert.equal(await damage(arm, op, armEnd, end), '');
  assert.match(await damage(arm, op, end), /arm a1 \(delete on b\) has no end/);
  assert.equal(await damage(arm, op, { ...end, reason: 'interrupted' }), '');
  assert.match(await damage(arm, armEnd, end, op), /line 5 stands after the end \(line 4\)/);
  assert.match(await damage(arm, arm, armEnd, end), /line 3 begins arm a1 a second time/);
});

test('what an editor does to a file is no damage', async () => {
  const [first = '', ...rest] = lines(header, arm);
  const recording = await assemble([`\uFEFF${first}`, ...rest.map((line) => line.replaceAll(':', ' : '))]);
  assert.equal(recording.arms.length, 1);
  assert.deepEqual(recording.damage, []);
  await assert.rejects(
    assemble(
      [JSON.stringify({ ...header, schema: 'mcp-retention/recording/v9' }).replaceAll(':', ': ')],
      'f',
    ),
    /another version \(mcp-retention\/recording\/v9\)/,
  );
});

test('a process that exits in the middle leaves a whole recording', async () => {
  const path = join(folder, 'exited.ndjson');
  const writer = new URL('../../src/recording/writer.ts', import.meta.url).href;
  const script = `import { RecordingWriter } from '${writer}';
    new RecordingWriter(${JSON.stringify(path)}, ${JSON.stringify(header)}).write({ type: 'notice', code: 'x', text: 'y' });
    process.exit(3);`;
  spawnSync(process.execPath, [
    '--import',
    import.meta.resolve('tsx'),
    '--input-type=module',
    '--eval',
    script,
  ]);
  const recording = await readRecording(path);
  assert.equal(recording.notices.length, 1);
  assert.equal(recording.end?.reason, 'interrupted');
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
