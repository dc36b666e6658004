import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { LogReader } from '../../src/targets/log.ts';
import { redact } from '../../src/targets/secrets.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'mcp-retention-log-'));
test.after(() => rmSync(directory, { recursive: true }));

test('session ids, tokens and passwords do not survive', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.stringMatching(/^[0-9a-f]{32}$/), (uuid, hex) => {
      const line = redact(`session ${uuid} and ${hex.toUpperCase()}: Authorization: Bearer abc.${hex}`);
      assert.ok(!line.includes(uuid) && !line.toLowerCase().includes(hex) && !line.includes('abc.'), line);
    }),
  );
  assert.equal(redact('Mcp-Session-Id: short-one'), 'Mcp-Session-Id: [id]');
  assert.equal(redact('https://me:pass@host/simple'), 'https://[secret]@host/simple');
  assert.equal(redact('listening on port 8000'), 'listening on port 8000');
});

test('new lines are given once and whole, from the start of this program on', () => {
  const file = path.join(directory, 'new');
  writeFileSync(file, 'before\n');
  const log = new LogReader(file, 'before\n'.length);
  appendFileSync(file, 'one\ntw');
  assert.deepEqual(log.next(), ['one']);
  assert.deepEqual(log.next(), []);
  appendFileSync(file, 'o\n');
  assert.deepEqual(log.next(), ['two']);
  assert.deepEqual(log.tail(), ['one', 'two']);
});

test('the tail is the last 20 lines, each shortened', () => {
  const file = path.join(directory, 'tail');
  writeFileSync(file, Array.from({ length: 5000 }, (_, index) => `line ${index}`).join('\n'));
  const tail = new LogReader(file, 0).tail();
  assert.equal(tail.length, 20);
  assert.equal(tail.at(-1), 'line 4999');
  writeFileSync(file, 'x'.repeat(100_000));
  assert.ok(new LogReader(file, 0).tail().every((line) => line.length <= 300));
});
