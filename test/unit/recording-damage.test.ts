/** Damaged, cut, packed and foreign files: each gives what it can, or one clear sentence. */
import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { LineSplitter, MOST_LINE_BYTES } from '../../src/recording/lines.ts';
import { readRecording, type Recording } from '../../src/recording/reader.ts';
import { verdict } from '../../src/verdict/verdict.ts';
import { cli, oneSentence } from '../support/cli.ts';
import { ARM, HEADER, lines, sample } from '../support/recordings.ts';

const folder = mkdtempSync(join(tmpdir(), 'damage-'));
after(() => rmSync(folder, { recursive: true }));

const ARM_END = { type: 'arm-end', t: 90, arm: 'a1', outcome: 'measured' };
const END = { type: 'end', t: 99, reason: 'complete' };
const whole = (...more: readonly object[]): string => lines(HEADER, ARM, ...more).join('\n') + '\n';

async function read(...parts: readonly (string | Buffer)[]): Promise<Recording> {
  const path = join(folder, 'recording.ndjson');
  writeFileSync(path, Buffer.concat(parts.map((part) => Buffer.from(part))));
  return readRecording(path);
}

const times = (recording: Recording): number[] => [...(recording.arms[0]?.samples ?? [])].map(({ t }) => t);

/** Damage makes a run incomplete and is told as a notice. */
function told(recording: Recording): void {
  const report = verdict(recording);
  assert.equal(report.complete, false);
  for (const text of recording.damage)
    assert.ok(report.notices.some((notice) => notice.text === `recording: ${text}`));
}

test('a last line that was cut', async () => {
  const recording = await read(whole(sample(1)), JSON.stringify(sample(2)).slice(0, -9));
  assert.deepEqual(times(recording), [1]);
  assert.deepEqual(recording.damage, ['line 4 is cut or no JSON']);
  assert.equal(recording.end, null);
  told(recording);
});

test('binary garbage in the middle', async () => {
  const garbage = Buffer.from(
    Array.from({ length: 5000 }, (_, i) => (i * 131 + 7) % 256).filter((byte) => byte !== 10),
  );
  const recording = await read(whole(sample(1)), garbage, '\n', lines(sample(2), ARM_END, END).join('\n'));
  assert.deepEqual(times(recording), [1, 2]);
  assert.deepEqual(recording.damage, ['line 4 is cut or no JSON']);
  assert.equal(recording.end?.reason, 'complete');
  told(recording);
});

test('NUL bytes, as a crashed machine leaves them', async () => {
  const recording = await read(
    whole(sample(1)),
    Buffer.alloc(4096),
    '\n',
    JSON.stringify(sample(2)),
    Buffer.alloc(7),
  );
  assert.deepEqual(times(recording), [1]);
  assert.deepEqual(recording.damage, ['line 4 is cut or no JSON', 'line 5 is cut or no JSON']);
});

test('the line that begins an arm is missing', async () => {
  const recording = await read(lines(HEADER, sample(1), ARM_END, END).join('\n'));
  assert.deepEqual(recording.damage, ['line 2 speaks of an unknown arm', 'line 3 speaks of an unknown arm']);
  told(recording);
});

test('an end that stands twice: the first counts', async () => {
  const recording = await read(whole(sample(1), ARM_END, END, { ...END, reason: 'failed' }));
  assert.equal(recording.end?.reason, 'complete');
  assert.deepEqual(recording.damage, ['line 6 stands after the end (line 5)']);
  told(recording);
});

test('of very much damage the first sentences are kept, and the number of the others', async () => {
  const recording = await read(whole(sample(1)), 'broken\n'.repeat(5000), JSON.stringify(sample(2)));
  assert.deepEqual(times(recording), [1, 2]);
  assert.equal(recording.damage.length, 101);
  assert.equal(recording.damage.at(-1), '4900 times more a line could not be used, up to line 5004');
});

test('a line of a hundred megabytes is passed over without being held', async () => {
  const path = join(folder, 'long.ndjson');
  const fd = openSync(path, 'w');
  writeSync(fd, whole(sample(1)));
  const part = Buffer.alloc(2 ** 20, 'x');
  for (let i = 0; i < 100; i++) writeSync(fd, part);
  writeSync(fd, `\n${lines(sample(2), ARM_END, END).join('\n')}`);
  closeSync(fd);
  const before = process.memoryUsage().rss;
  const recording = await readRecording(path);
  assert.ok(process.memoryUsage().rss - before < 80e6, 'held');
  assert.deepEqual(times(recording), [1, 2]);
  assert.deepEqual(recording.damage, ['line 4 is longer than any record (8 MiB)']);
});

test('lines are cut alike however the bytes arrive', () => {
  const text = 'one\n\nzwei ü€😀\nthree\r\nlast';
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size++) {
    const found: (string | null)[] = [];
    const splitter = new LineSplitter((line) => found.push(line));
    for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size));
    splitter.end();
    assert.deepEqual(found, text.split('\n'), `${size} bytes at a time`);
  }
});

test('a line that is too long is told once, and the next is whole', () => {
  const found: (number | null)[] = [];
  const splitter = new LineSplitter((line) => found.push(line?.length ?? null));
  const part = Buffer.alloc(2 ** 20, 'x');
  for (let bytes = 0; bytes <= MOST_LINE_BYTES + 3 * part.length; bytes += part.length) splitter.push(part);
  splitter.push(Buffer.from('x\nab'));
  splitter.push(Buffer.from('c\n'));
  splitter.end();
  assert.deepEqual(found, [null, 3]);
});

const REFUSED: Readonly<Record<string, readonly [content: string | Buffer, sentence: RegExp]>> = {
  'an empty file': ['', /^.*f\.ndjson is empty: it is no recording\.$/],
  'a file of newlines': ['\n\n\n', /is empty: it is no recording\.$/],
  'a gzip file': [
    gzipSync(whole(sample(1))),
    /is compressed \(gzip\): unpack it and name the recording in it\.$/,
  ],
  'a zip file': [Buffer.from('PK\x03\x04\x14\0\0\0'), /is compressed \(zip\): unpack it/],
  'a zstd file': [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 4, 0]), /is compressed \(zstd\): unpack it/],
  'another file': ['# Title\n', /is no recording: its first line is not a header\.$/],
  'one endless line': [
    Buffer.alloc(MOST_LINE_BYTES + 5, 0),
    /is no recording: its first line is not a header\.$/,
  ],
  'a recording without its header': [lines(ARM, sample(1)).join('\n'), /its first line is not a header\.$/],
  'another version': [
    JSON.stringify({ ...HEADER, schema: 'mcp-retention/recording/v3' }),
    /is a recording of another version \(mcp-retention\/recording\/v3\); this release reads mcp-retention\/recording\/v1 and mcp-retention\/recording\/v2\.$/,
  ],
  'a damaged header': [
    JSON.stringify({ ...HEADER, seed: 'x' }),
    /cannot be read: its first line, the header, is no record of this version \(seed: .*\)\.$/,
  ],
};

for (const [name, [content, sentence]] of Object.entries(REFUSED))
  test(`${name} is refused in one sentence`, async () => {
    const path = join(folder, 'f.ndjson');
    writeFileSync(path, content);
    await assert.rejects(readRecording(path), { name: 'UnreadableRecording', message: sentence });
  });

test('a folder is refused with what to name', async () => {
  await assert.rejects(readRecording(folder), {
    name: 'UnreadableRecording',
    message: /is a folder: name the recording in it, such as .*recording\.ndjson\.$/,
  });
});

test('the command line says so in one sentence, and exits with 2', async () => {
  writeFileSync(join(folder, 'packed.ndjson.gz'), gzipSync(whole(sample(1))));
  oneSentence(
    await cli(['report', 'packed.ndjson.gz'], folder),
    2,
    /packed\.ndjson\.gz is compressed \(gzip\)/,
  );
});
