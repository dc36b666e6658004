import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionId } from '../../src/client/id.ts';
import { sendRefusal, useId } from '../../src/client/use.ts';
import { REFUSALS } from '../../src/protocol/refusals.ts';
import { eventually, openReady, withStub } from '../support/client.ts';

function refusal(kind: string) {
  const found = REFUSALS.find((candidate) => candidate.kind === kind);
  assert.ok(found !== undefined, kind);
  return found;
}

describe('useId', () => {
  test('a live id answers ping, stream and DELETE; a dead one none of them', () =>
    withStub({}, async ({ stub, transport }) => {
      const { id } = await openReady(transport);
      assert.ok(id !== null);
      for (const method of ['POST', 'GET', 'DELETE'] as const) {
        assert.equal((await useId(transport, id, method)).outcome, 'ok', method);
      }
      await eventually(() => stub.counts().open === 0, 'the stream closed at once');
      for (const method of ['POST', 'GET', 'DELETE'] as const) {
        const { outcome, status } = await useId(transport, id, method);
        assert.deepEqual({ outcome, status }, { outcome: 'refused', status: 404 }, method);
      }
    }));

  test('sends the version that its session speaks, and none for an id of unknown origin', () =>
    withStub({}, async ({ stub, transport }) => {
      await useId(transport, new SessionId('echoed-by-a-refusal', null), 'POST');
      assert.equal(stub.lastHeaders()['mcp-protocol-version'], undefined);
      await useId(transport, new SessionId('of-a-session', '2025-06-18'), 'GET');
      assert.equal(stub.lastHeaders()['mcp-protocol-version'], '2025-06-18');
    }));
});

describe('sendRefusal', () => {
  test('every kind is refused by a strict server, which opens nothing', () =>
    withStub({}, async ({ stub, transport }) => {
      for (const candidate of REFUSALS) {
        const { exchange, echoedId, opened } = await sendRefusal(transport, candidate);
        assert.equal(exchange.outcome, 'refused', candidate.kind);
        assert.ok((exchange.status ?? 0) >= 400, candidate.kind);
        assert.deepEqual({ echoedId, opened }, { echoedId: null, opened: null });
      }
      const { opened, requests } = stub.counts();
      assert.deepEqual({ opened, requests }, { opened: 0, requests: REFUSALS.length });
    }));

  test('ids that refusals echo come back', () =>
    withStub({ echoIds: true }, async ({ transport }) => {
      for (const candidate of REFUSALS) {
        const { exchange, echoedId, opened } = await sendRefusal(transport, candidate);
        assert.equal(exchange.sid, true, candidate.kind);
        assert.ok(echoedId !== null && opened === null, candidate.kind);
      }
    }));

  for (const answer of ['json', 'sse'] as const) {
    test(`what a lax server opens all the same can be closed (${answer})`, () =>
      withStub({ lax: true, answer, sseStaysOpen: true }, async ({ stub, transport }) => {
        const openedBy: string[] = [];
        for (const candidate of REFUSALS) {
          const { exchange, opened } = await sendRefusal(transport, candidate);
          if (opened === null) continue;
          openedBy.push(candidate.kind);
          assert.equal(exchange.outcome, 'ok');
          assert.equal((await useId(transport, opened, 'DELETE')).outcome, 'ok');
        }
        assert.deepEqual(openedBy, [
          'accept-json-only',
          'accept-event-stream-only',
          'accept-html',
          'accept-any',
          'bad-host',
          'bad-origin',
          'unknown-protocol-version',
        ]);
        assert.equal(stub.counts().live, 0);
        assert.equal(stub.counts().opened, openedBy.length);
      }));
  }

  test('its own headers go out, Host too, together with those of the endpoint', () =>
    withStub(
      {},
      async ({ stub, transport }) => {
        await sendRefusal(transport, refusal('bad-host'));
        assert.equal(stub.lastHeaders().host, 'attacker.invalid');
        assert.equal(stub.lastHeaders().authorization, 'Bearer token');
        await sendRefusal(transport, refusal('accept-html'));
        assert.equal(stub.lastHeaders().accept, 'text/html');
        assert.equal(stub.lastHeaders().host, transport.url.host);
        await sendRefusal(transport, refusal('made-up-session-id'));
        assert.equal(stub.lastHeaders()['mcp-session-id'], 'mcp-retention-made-up');
      },
      { headers: { authorization: 'Bearer token' } },
    ));
});
