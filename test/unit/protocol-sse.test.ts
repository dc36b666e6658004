import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SseParser, type SseEvent } from '../../src/protocol/sse.ts';

function parse(...chunks: string[]): SseEvent[] {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
}

function data(...chunks: string[]): string[] {
  return parse(...chunks).map((event) => event.data);
}

/** Cuts a text at the given places, anywhere and as often as they say. */
function cut(text: string, places: readonly number[]): string[] {
  const ends = places.map((place) => place % (text.length + 1)).sort((a, b) => a - b);
  return [...ends, text.length].map((end, at) => text.slice(at === 0 ? 0 : ends[at - 1], end));
}

const streams = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'data: a',
        'data:',
        'data',
        'event: other',
        ': note',
        'id: 7',
        'id: \0',
        'retry: 10',
        '',
      ),
      fc.string({ maxLength: 6 }),
    ),
    { maxLength: 12 },
  )
  .chain((lines) =>
    fc
      .array(fc.constantFrom('\n', '\r', '\r\n'), { minLength: lines.length, maxLength: lines.length })
      .map((ends) => lines.map((line, at) => line + (ends[at] ?? '\n')).join('')),
  )
  .chain((text) => fc.constantFrom(text, `\uFEFF${text}`, `${text}\n\n`));

describe('SseParser', () => {
  test('any chunking gives the same events', () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat({ max: 200 }), { maxLength: 20 }), (text, places) => {
        assert.deepEqual(parse(...cut(text, places)), parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('data of any lines comes back whole, whatever ends the lines', () => {
    const lines = fc.array(
      fc.string().map((text) => text.replace(/[\r\n]/g, '')),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(lines, fc.constantFrom('\n', '\r', '\r\n'), (written, end) => {
        const text = `${written.map((line) => `data: ${line}${end}`).join('')}${end}`;
        assert.deepEqual(data(text), [written.join('\n')]);
      }),
    );
  });

  test('reads type, id and retry', () => {
    const parser = new SseParser();
    assert.deepEqual(parser.push('retry: 250\nid: 7\nevent: notice\ndata: x\n\ndata: y\n\n'), [
      { type: 'notice', data: 'x', lastEventId: '7' },
      { type: 'message', data: 'y', lastEventId: '7' },
    ]);
    assert.equal(parser.retryMs, 250);
    parser.push('retry: soon\n\n');
    assert.equal(parser.retryMs, 250);
  });

  test('takes one space after the colon, and only one', () => {
    assert.deepEqual(data('data:  two\n\n', 'data:none\n\n'), [' two', 'none']);
  });

  test('ignores a byte order mark at the start only, comments, and ids with NUL', () => {
    assert.deepEqual(data('\uFEFF', ': hello\ndata: a\n\n'), ['a']);
    assert.deepEqual(data('data: a\n\n\uFEFFdata: b\n\n'), ['a']);
    assert.deepEqual(parse('id: 1\n\nid: a\0b\ndata: x\n\n')[0]?.lastEventId, '1');
  });

  test('an empty data line is an event, none is not, and an unfinished one is never given', () => {
    assert.deepEqual(data('data:\n\n'), ['']);
    assert.deepEqual(data('event: lonely\n\n', 'data: after\n\n'), ['after']);
    assert.deepEqual(data('data: unfinished\n'), []);
  });

  test('CRLF that chunks cut in two ends one line', () => {
    assert.deepEqual(data('data: a\r', '\ndata: b\r', '\n\r', '\n'), ['a\nb']);
    assert.deepEqual(data('data: a\r', '\r', 'data: b\n', '\n'), ['a', 'b']);
  });

  test('says how much it holds', () => {
    const parser = new SseParser();
    parser.push(`data: ${'x'.repeat(1000)}`);
    assert.ok(parser.pending >= 1000);
    parser.push('\n\n');
    assert.equal(parser.pending, 0);
  });

  test('reads many short lines in time that grows with their number only', () => {
    const text = `${'data:\n'.repeat(200_000)}\n`;
    assert.equal(data(text).length, 1);
  });
});
