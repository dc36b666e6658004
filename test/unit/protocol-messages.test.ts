import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { mediaType } from '../../src/protocol/http.ts';
import * as messages from '../../src/protocol/messages.ts';
import { REFUSALS } from '../../src/protocol/refusals.ts';
import { canSpeak, OFFERED_VERSION, VERSIONS } from '../../src/protocol/version.ts';

const { parseReply } = messages;

describe('versions', () => {
  test('the newest is offered, strangers are not spoken', () => {
    assert.equal(OFFERED_VERSION, '2025-11-25');
    assert.deepEqual([...VERSIONS].sort().reverse(), [...VERSIONS]);
    for (const version of VERSIONS) assert.ok(canSpeak(version));
    for (const version of ['2024-10-07', '', null, undefined, 20251125]) assert.ok(!canSpeak(version));
  });
});

describe('messages', () => {
  test('initialize is padded to the size asked for, and never below its own', () => {
    const size = (clientInfoBytes?: number): number =>
      Buffer.byteLength(
        JSON.stringify(messages.initialize(1, clientInfoBytes === undefined ? {} : { clientInfoBytes })),
      );
    for (const bytes of [200, 1_000, 65_536, 1_000_000]) assert.equal(size(bytes), bytes);
    assert.equal(size(10), size());
  });

  test('requests bear an id, notifications none', () => {
    assert.equal(messages.ping(7).id, 7);
    assert.equal(messages.toolsList(8).id, 8);
    assert.deepEqual(messages.toolCall(9, 'echo', { text: 'a' }).params, {
      name: 'echo',
      arguments: { text: 'a' },
    });
    assert.ok(!('id' in messages.initialized()));
    assert.deepEqual(messages.cancelled(9, 'over').params, { requestId: 9, reason: 'over' });
  });

  test('a ping of the server is answered, anything else is declined', () => {
    assert.deepEqual(messages.answerTo({ id: 'a', method: 'ping' }), { jsonrpc: '2.0', id: 'a', result: {} });
    const declined = messages.answerTo({ id: 1, method: 'sampling/createMessage' });
    assert.equal('error' in declined && declined.error.code, messages.METHOD_NOT_FOUND);
  });
});

describe('parseReply', () => {
  test('tells results, errors, requests and notifications apart', () => {
    assert.deepEqual(parseReply('{"jsonrpc":"2.0","id":1,"result":{"a":1}}'), {
      kind: 'result',
      id: 1,
      result: { a: 1 },
    });
    assert.deepEqual(parseReply('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}'), {
      kind: 'error',
      id: null,
      code: -32600,
      message: 'no',
    });
    assert.equal(parseReply('{"jsonrpc":"2.0","id":"x","method":"ping"}').kind, 'request');
    assert.equal(parseReply('{"jsonrpc":"2.0","method":"notifications/message"}').kind, 'notification');
    assert.equal(
      parseReply('[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":1,"result":{}}]').kind,
      'result',
    );
  });

  test('is not misled by what merely looks like JSON-RPC', () => {
    for (const text of ['{}', '[]', 'null', '3', '{"jsonrpc":"1.0","id":1,"result":{}}', '[[[]]]']) {
      assert.equal(parseReply(text).kind, 'foreign', text);
    }
    assert.equal(parseReply('{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}').kind, 'foreign');
    assert.equal(parseReply('<html>').kind, 'unreadable');
  });

  test('never throws, whatever comes', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseReply(text)));
    const shaped = fc.record(
      {
        jsonrpc: fc.constant('2.0'),
        id: fc.jsonValue(),
        method: fc.jsonValue(),
        result: fc.jsonValue(),
        error: fc.jsonValue(),
      },
      { requiredKeys: ['jsonrpc'] },
    );
    fc.assert(fc.property(shaped, (value) => void parseReply(JSON.stringify(value))));
    assert.equal(parseReply('['.repeat(1_000_000)).kind, 'unreadable');
  });

  test('an offer names its revision and whether there are tools', () => {
    assert.deepEqual(messages.readOffer({ protocolVersion: 'v', capabilities: { tools: {} } }), {
      protocolVersion: 'v',
      tools: true,
    });
    assert.equal(messages.readOffer({ capabilities: {} })?.protocolVersion, null);
    assert.equal(messages.readOffer({}), null);
  });
});

describe('REFUSALS', () => {
  test('each has a name of its own, lower-case headers, and an accept header', () => {
    assert.equal(new Set(REFUSALS.map(({ kind }) => kind)).size, REFUSALS.length);
    assert.ok(REFUSALS.length >= 20);
    for (const { headers, kind } of REFUSALS) {
      for (const name of Object.keys(headers)) assert.equal(name, name.toLowerCase());
      assert.ok(headers['accept'] !== undefined, kind);
    }
  });

  test('only lenient ones are openings without a fault that must be refused', () => {
    const lenient = REFUSALS.filter((refusal) => refusal.lenient).map(({ kind }) => kind);
    assert.deepEqual(lenient, [
      'accept-json-only',
      'accept-any',
      'options',
      'bad-host',
      'bad-origin',
      'unknown-protocol-version',
    ]);
  });
});

test('media types are compared without parameters and case', () => {
  assert.equal(mediaType('Application/JSON; charset=utf-8'), 'application/json');
  assert.equal(mediaType(undefined), '');
});

test('src/protocol imports nothing but its neighbours', () => {
  const folder = new URL('../../src/protocol/', import.meta.url);
  for (const file of readdirSync(folder)) {
    const text = readFileSync(new URL(file, folder), 'utf8');
    for (const [, from] of text.matchAll(/from '([^']+)'/g))
      assert.match(from ?? '', /^\.\/[a-z]+\.ts$/, file);
    assert.doesNotMatch(text, /\b(process|Buffer|TextEncoder|fetch|setTimeout)\b\s*[.(]/, file);
  }
});
