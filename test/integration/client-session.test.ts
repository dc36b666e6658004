import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { McpSession } from '../../src/client/session.ts';
import type { StubOptions } from '../fixtures/servers/stub.ts';
import { eventually, openReady, withStub } from '../support/client.ts';

const LIFE = ['initialize', 'notifications/initialized', 'tools/call', 'ping', 'DELETE'];

describe('a session from open to delete', () => {
  const servers: Record<string, StubOptions> = {
    JSON: {},
    SSE: { answer: 'sse' },
    'SSE that stays open after the answer': { answer: 'sse', sseStaysOpen: true },
    'a slow server': { delayMs: 20, seed: 3 },
    'a server that closes the connection on DELETE': { closeOnDelete: true },
    'an older revision': { protocolVersion: '2025-03-26' },
  };
  for (const [name, options] of Object.entries(servers)) {
    test(`over ${name}`, () =>
      withStub(options, async ({ stub, transport }) => {
        for (let round = 1; round <= 3; round++) {
          const session = await openReady(transport);
          assert.equal(session.version, options.protocolVersion ?? '2025-11-25');
          assert.equal((await session.call('echo', { text: 'hello' })).outcome, 'ok');
          assert.equal((await session.ping()).outcome, 'ok');
          assert.equal(stub.lastHeaders()['mcp-session-id'], session.id?.reveal());
          assert.equal(stub.lastHeaders()['mcp-protocol-version'], session.version);
          const deleted = await session.delete();
          assert.equal(deleted.outcome, 'ok');
          assert.equal(deleted.status, 200);
          assert.equal(session.ended, 'deliberate');
        }
        const { opened, deleted, live, received } = stub.counts();
        assert.deepEqual({ opened, deleted, live }, { opened: 3, deleted: 3, live: 0 });
        assert.deepEqual(received, [...LIFE, ...LIFE, ...LIFE]);
      }));
  }

  test('replies that stay open are left, and their connections closed', () =>
    withStub({ answer: 'sse', sseStaysOpen: true }, async ({ stub, transport }) => {
      const session = await openReady(transport);
      for (let i = 0; i < 5; i++) assert.equal((await session.ping()).outcome, 'ok');
      await eventually(() => stub.counts().connected <= 1, 'the connections of replies that were left');
      assert.equal((await session.delete()).outcome, 'ok');
    }));

  test('a server that pings on its stream is answered', () =>
    withStub({ answer: 'sse', chatty: true }, async ({ stub, transport }) => {
      const session = await openReady(transport);
      assert.equal((await session.call('echo', { text: 'a' })).outcome, 'ok');
      await eventually(() => stub.counts().received.includes('response'), 'an answer to the ping');
      assert.equal((await session.delete()).outcome, 'ok');
    }));

  test('initialize is as large as asked', () =>
    withStub({}, async ({ stub, transport }) => {
      const { session } = await McpSession.open(transport, { clientInfoBytes: 50_000 });
      assert.equal(stub.lastHeaders()['content-length'], '50000');
      await session?.delete();
    }));

  test('its id is shown by its first characters only', () =>
    withStub({}, async ({ transport }) => {
      const session = await openReady(transport);
      const id = session.id?.reveal() ?? '';
      for (const text of [
        inspect(session, { depth: 9, showHidden: true }),
        JSON.stringify(session),
        String(session.id),
      ]) {
        assert.ok(!text.includes(id.slice(0, 6)), text);
      }
      assert.equal(String(session.id), `${id.slice(0, 4)}…`);
      await session.delete();
    }));
});

describe('what a session may send', () => {
  test('nothing but ping before initialized', () =>
    withStub({}, async ({ stub, transport }) => {
      const { session } = await McpSession.open(transport);
      assert.ok(session !== null);
      assert.equal((await session.call('echo', { text: '' })).outcome, 'local');
      assert.equal((await session.ping()).outcome, 'ok');
      await session.close();
      assert.deepEqual(stub.counts().received, ['initialize', 'ping', 'DELETE']);
    }));

  test('ping in place of a tool, where there are none', () =>
    withStub({ tools: false }, async ({ stub, transport }) => {
      const session = await openReady(transport);
      const called = await session.call('echo', { text: '' });
      assert.equal(called.outcome, 'ok');
      assert.match(called.note ?? '', /no tools/);
      assert.ok(!stub.counts().received.includes('tools/call'));
      await session.close();
    }));

  test('nothing after its end', () =>
    withStub({}, async ({ stub, transport }) => {
      const session = await openReady(transport);
      await session.delete();
      const before = stub.counts().requests;
      for (const exchange of [
        await session.ping(),
        await session.initialized(),
        await session.call('echo', {}),
        await session.openStream(),
        await session.delete(),
        await session.close(),
      ]) {
        assert.equal(exchange.outcome, 'local');
      }
      assert.equal(stub.counts().requests, before);
    }));

  test('a tool that reports an error, or is not there, is refused', () =>
    withStub({}, async ({ transport }) => {
      const session = await openReady(transport);
      const failed = await session.call('fail', {});
      assert.equal(failed.outcome, 'refused');
      assert.match(failed.note ?? '', /tool reports an error/);
      await session.close();
    }));
});

describe('openings that come to nothing', () => {
  test('a revision that we cannot speak ends the session at once', () =>
    withStub({ protocolVersion: '2099-01-01' }, async ({ stub, transport }) => {
      const { exchange, session, stray } = await McpSession.open(transport);
      assert.equal(exchange.outcome, 'refused');
      assert.match(exchange.note ?? '', /2099-01-01/);
      assert.deepEqual({ session, stray }, { session: null, stray: null });
      assert.deepEqual(stub.counts().received, ['initialize', 'DELETE']);
      assert.equal(stub.counts().live, 0);
    }));

  test('and is handed over where the server keeps it', () =>
    withStub({ protocolVersion: '2099-01-01', declineDelete: 405 }, async ({ stub, transport }) => {
      const { stray } = await McpSession.open(transport);
      assert.ok(stray !== null);
      assert.equal(stub.counts().live, 1);
    }));

  test('an error in a 200 that registered a session hands over its id', () =>
    withStub({ initializeFails: true }, async ({ transport }) => {
      const { exchange, session, stray } = await McpSession.open(transport);
      assert.equal(exchange.outcome, 'refused');
      assert.equal(exchange.status, 200);
      assert.equal(exchange.code, -32602);
      assert.equal(exchange.sid, true);
      assert.equal(session, null);
      assert.ok(stray !== null);
    }));

  test('a server without sessions gives one without id, which needs no DELETE', () =>
    withStub({ sessionless: true }, async ({ stub, transport }) => {
      const session = await openReady(transport);
      assert.equal(session.id, null);
      assert.equal((await session.call('echo', { text: 'a' })).outcome, 'ok');
      const deleted = await session.delete();
      assert.equal(deleted.outcome, 'local');
      assert.match(deleted.note ?? '', /no session id/);
      assert.ok(!stub.counts().received.includes('DELETE'));
    }));
});
