import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HttpTransport } from '../../src/client/http.ts';
import { McpSession } from '../../src/client/session.ts';
import type { Fault } from '../fixtures/servers/stub-faults.ts';
import { eventually, openReady, withStub } from '../support/client.ts';

const EXPECTED: Readonly<Record<Fault, readonly ['refused' | 'broken', RegExp]>> = {
  redirect: ['refused', /not followed: it points to elsewhere\.invalid$/],
  html: ['refused', /text\/html, not MCP: is this the endpoint's path\?/],
  'json-that-is-not-rpc': ['refused', /not MCP/],
  'broken-json': ['broken', /not readable JSON/],
  empty: ['broken', /empty/],
  hang: ['broken', /no complete answer within 300 ms/],
  'hang-after-headers': ['broken', /no complete answer within 300 ms/],
  trickle: ['broken', /no complete answer within 300 ms/],
  'endless-headers': ['broken', /headers are too long/],
  'endless-body': ['broken', /longer than 8 MiB/],
  'endless-event': ['broken', /longer than 8 MiB/],
  'not-http': ['broken', /not HTTP/],
};

/** Where the deadline is what is tested; everything else gets ample time. */
const SHORT: readonly Fault[] = ['hang', 'hang-after-headers', 'trickle'];

describe('servers that are none', () => {
  for (const [fault, [outcome, note]] of Object.entries(EXPECTED) as [Fault, (typeof EXPECTED)[Fault]][]) {
    test(`${fault} is ${outcome}`, () =>
      withStub({ fault }, async ({ stub, transport }) => {
        const timeoutMs = SHORT.includes(fault) ? 300 : 20_000;
        const { exchange, session } = await McpSession.open(transport, { timeoutMs });
        assert.equal(session, null);
        assert.equal(exchange.outcome, outcome, exchange.note);
        assert.match(exchange.note ?? '', note);
        assert.equal(stub.counts().requests, 1, 'sent once');
        await eventually(() => stub.counts().connected <= 1, 'connections given up');
      }));
  }

  test('an id that came before the answer broke is handed over', () =>
    withStub({ fault: 'hang-after-headers' }, async ({ transport }) => {
      const { exchange, stray } = await McpSession.open(transport, { timeoutMs: 300 });
      assert.equal(exchange.sid, true);
      assert.equal(stray?.reveal(), 'held-in-the-headers');
    }));

  test('a note never repeats what the server sent', () =>
    withStub({ fault: 'redirect' }, async ({ transport }) => {
      const { exchange } = await McpSession.open(transport);
      assert.ok(!JSON.stringify(exchange).includes('secret'));
      assert.ok(exchange.status === 307);
    }));
});

describe('HttpTransport', () => {
  test('a port where nobody listens: nothing was sent', async () => {
    const transport = new HttpTransport({ url: 'http://127.0.0.1:1/mcp', headers: {}, timeoutMs: 20_000 });
    const { exchange } = await McpSession.open(transport);
    await transport.close();
    assert.equal(exchange.outcome, 'local');
    assert.match(exchange.note ?? '', /connection refused: nothing was sent/);
  });

  test('a header that cannot be sent: nothing was sent, and its value is not told', () =>
    withStub(
      {},
      async ({ stub, transport }) => {
        const { exchange } = await McpSession.open(transport);
        assert.equal(exchange.outcome, 'local');
        assert.ok(!JSON.stringify(exchange).includes('to\\nken'));
        assert.equal(stub.counts().requests, 0);
      },
      { headers: { authorization: 'to\nken' } },
    ));

  test("the endpoint's headers go with every request, whatever their case", () =>
    withStub(
      {},
      async ({ stub, transport }) => {
        const session = await openReady(transport);
        for (const ask of [() => session.ping(), () => session.openStream(), () => session.delete()]) {
          assert.equal((await ask()).outcome, 'ok');
          assert.equal(stub.lastHeaders().authorization, 'Bearer token');
          assert.equal(stub.lastHeaders()['mcp-session-id'], session.id?.reveal());
        }
      },
      { headers: { Authorization: 'Bearer token', ACCEPT: 'text/html', 'Mcp-Session-Id': 'made-up' } },
    ));

  test('what a signal interrupts after it was sent is broken', () =>
    withStub({ fault: 'hang' }, async ({ stub, transport }) => {
      const interruption = new AbortController();
      const answer = transport.request('GET', transport.streamHeaders, null, {
        reading: { until: 'end' },
        signal: interruption.signal,
      });
      await eventually(() => stub.counts().requests === 1, 'the request');
      interruption.abort();
      assert.equal((await answer).failure?.kind, 'broken');
      const next = await transport.request('GET', transport.streamHeaders, null, {
        reading: { until: 'end' },
        signal: interruption.signal,
      });
      assert.equal(next.failure?.kind, 'unsent');
      assert.equal(stub.counts().requests, 1);
    }));

  test('closing settles what is in flight as broken, and later requests as unsent', () =>
    withStub({ fault: 'hang' }, async ({ stub, transport }) => {
      const opening = McpSession.open(transport);
      await eventually(() => stub.counts().requests === 1, 'the request');
      await transport.close();
      assert.equal((await opening).exchange.outcome, 'broken');
      assert.equal((await McpSession.open(transport)).exchange.outcome, 'local');
      await eventually(() => stub.counts().connected === 0, 'connections closed');
    }));

  test('sessions in a row share a connection', () =>
    withStub({}, async ({ stub, transport }) => {
      for (let round = 0; round < 5; round++) {
        const session = await openReady(transport);
        await session.call('echo', { text: 'a' });
        await session.delete();
      }
      assert.equal(stub.counts().requests, 20);
      // An answer that was slow to end may have cost one more.
      assert.ok(stub.counts().connections <= 3, `${stub.counts().connections} connections`);
    }));
});

describe('accounting under resets', () => {
  for (const seed of [1, 2, 3]) {
    test(`what the client knows and what is uncertain hold the server's own count (seed ${seed})`, () =>
      withStub({ resetOneIn: 8, seed, delayMs: 2 }, async ({ stub, transport }) => {
        const ledger = { opened: 0, maybeOpened: 0, deleted: 0, maybeDeleted: 0 };
        const one = async (): Promise<void> => {
          const { exchange, session } = await McpSession.open(transport);
          if (exchange.outcome === 'ok') ledger.opened += 1;
          else ledger.maybeOpened += 1;
          if (session === null) return;
          await session.initialized();
          await session.call('echo', { text: 'a' });
          const { outcome } = await session.delete();
          if (outcome === 'ok') ledger.deleted += 1;
          else ledger.maybeDeleted += 1;
        };
        for (let round = 0; round < 25; round++) await Promise.all(Array.from({ length: 8 }, one));
        const { opened, deleted, resets } = stub.counts();
        assert.ok(resets > 20, 'there were resets');
        const between = (count: number, known: number, uncertain: number): boolean =>
          known <= count && count <= known + uncertain;
        assert.ok(between(opened, ledger.opened, ledger.maybeOpened), JSON.stringify({ ...ledger, opened }));
        assert.ok(
          between(deleted, ledger.deleted, ledger.maybeDeleted),
          JSON.stringify({ ...ledger, deleted }),
        );
        assert.ok(
          opened > ledger.opened && opened < ledger.opened + ledger.maybeOpened,
          'both kinds of reset',
        );
      }));
  }
});
