import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HttpTransport } from '../../src/client/http.ts';
import { eventually, openReady, withStub } from '../support/client.ts';

const RUNNING = { seconds: 30 };

describe('close', () => {
  test('cancels what runs, settles it, deletes, then closes the stream', () =>
    withStub({}, async ({ stub, transport }) => {
      const session = await openReady(transport);
      await session.openStream();
      const running = session.call('sleep', RUNNING);
      await eventually(() => stub.counts().open === 2, 'a stream and a call');
      const settled: string[] = [];
      void running.then(() => settled.push('call'));
      const closed = await session.close();
      settled.push('close');
      const called = await running;
      assert.equal(called.outcome, 'local');
      assert.match(called.note ?? '', /cancelled/);
      assert.equal(closed.outcome, 'ok');
      assert.deepEqual(settled, ['call', 'close']);
      assert.equal(session.streamOpen, false);
      assert.equal(session.ended, 'deliberate');
      assert.deepEqual([...stub.counts().received.slice(4)].sort(), ['DELETE', 'notifications/cancelled']);
      await eventually(() => stub.counts().open === 0, 'nothing served any more');
    }));

  test('tells the server which call to cancel, and sends one DELETE', () =>
    withStub({}, async ({ stub, transport }) => {
      const session = await openReady(transport);
      const running = session.call('sleep', RUNNING);
      await eventually(() => stub.counts().open === 1, 'a call');
      await session.close();
      await running;
      const { received } = stub.counts();
      assert.ok(received.indexOf('notifications/cancelled') > received.indexOf('tools/call'));
      assert.equal(received.filter((name) => name === 'DELETE').length, 1);
      await eventually(() => stub.counts().live === 0, 'the session gone');
    }));

  test('twice at a time sends one DELETE', () =>
    withStub({ delayMs: 10 }, async ({ stub, transport }) => {
      const session = await openReady(transport);
      const both = await Promise.all([session.close(), session.close(), session.delete()]);
      assert.deepEqual(both.map(({ outcome }) => outcome).sort(), ['local', 'local', 'ok']);
      assert.equal(stub.counts().deleted, 1);
    }));
});

describe('delete', () => {
  test('404 is success', () =>
    withStub({}, async ({ stub, transport }) => {
      const session = await openReady(transport);
      stub.forget();
      const deleted = await session.delete();
      assert.equal(deleted.outcome, 'ok');
      assert.equal(deleted.status, 404);
      assert.equal(session.ended, 'deliberate');
    }));

  test('405 declines: the session lives on, and DELETE is not repeated', () =>
    withStub({ declineDelete: 405 }, async ({ stub, transport }) => {
      const session = await openReady(transport);
      const deleted = await session.delete();
      assert.equal(deleted.outcome, 'refused');
      assert.equal(deleted.status, 405);
      assert.equal(session.ended, null);
      assert.equal((await session.ping()).outcome, 'ok');
      assert.equal((await session.close()).outcome, 'local');
      assert.equal(session.ended, 'deliberate');
      assert.equal(stub.counts().received.filter((name) => name === 'DELETE').length, 1);
    }));

  for (const when of ['before', 'after'] as const) {
    test(`a connection that breaks ${when} the server acted is uncertain, and never retried`, () =>
      withStub({ resetMethod: { method: 'DELETE', when } }, async ({ stub, transport }) => {
        const session = await openReady(transport);
        const deleted = await session.delete();
        assert.equal(deleted.outcome, 'broken');
        assert.equal(deleted.status, undefined);
        assert.equal((await session.close()).outcome, 'local');
        assert.equal(stub.counts().received.filter((name) => name === 'DELETE').length, 1);
        assert.equal(stub.counts().live, when === 'before' ? 1 : 0);
      }));
  }

  test('what never reached a server is told apart from what may have', () =>
    withStub({}, async ({ stub, transport }) => {
      const session = await openReady(transport);
      await stub.close();
      await eventually(() => stub.counts().connected === 0, 'no connections');
      const gone = new HttpTransport(transport.endpoint);
      session.resume(gone);
      const deleted = await session.delete();
      assert.equal(deleted.outcome, 'local');
      assert.match(deleted.note ?? '', /nothing was sent/);
      assert.equal(session.ended, null);
      await gone.close();
    }));
});

describe('an unexpected end', () => {
  test('is a 404 that we did not bring about; only then is a session opened anew', () =>
    withStub({}, async ({ stub, transport }) => {
      const session = await openReady(transport);
      assert.equal((await session.reopen()).exchange.outcome, 'local');
      stub.forget();
      assert.equal((await session.ping()).status, 404);
      assert.equal(session.ended, 'unexpected');
      const { session: next } = await session.reopen();
      assert.ok(next !== null);
      assert.notEqual(next.id?.reveal(), session.id?.reveal());
      await next.delete();
      assert.equal((await next.reopen()).session, null);
      assert.equal(stub.counts().opened, 2);
    }));
});

describe('drop', () => {
  test('closes the stream and a running call, sends nothing, and can be taken up again', () =>
    withStub({}, async ({ stub, transport }) => {
      const session = await openReady(transport);
      await session.openStream();
      const running = session.call('sleep', RUNNING);
      await eventually(() => stub.counts().open === 2, 'a stream and a call');
      const before = stub.counts().requests;
      assert.equal((await session.drop()).outcome, 'local');
      assert.equal((await running).outcome, 'local');
      assert.deepEqual(await session.streamEnded?.then(({ reason }) => reason), 'closed');
      await eventually(() => stub.counts().open === 0, 'nothing served any more');
      assert.equal(stub.counts().requests, before);
      assert.equal(stub.counts().live, 1);
      assert.equal((await session.ping()).outcome, 'local');

      const other = new HttpTransport(transport.endpoint);
      session.resume(other);
      assert.equal((await session.ping()).outcome, 'ok');
      assert.equal((await session.close()).outcome, 'ok');
      await other.close();
      assert.equal(stub.counts().live, 0);
    }));

  test('a deleted session is not taken up again', () =>
    withStub({}, async ({ transport }) => {
      const session = await openReady(transport);
      await session.delete();
      session.resume(transport);
      assert.equal((await session.ping()).outcome, 'local');
    }));
});

describe('streams', () => {
  test('the end that a server gives is noticed, and a broken connection told apart', () =>
    withStub({ chatty: true }, async ({ stub, transport }) => {
      const session = await openReady(transport);
      for (const [how, reason] of [
        ['end', 'eof'],
        ['cut', 'broken'],
      ] as const) {
        assert.equal((await session.openStream()).outcome, 'ok');
        assert.equal(session.streamOpen, true);
        await eventually(() => stub.counts().open === 1, 'a stream');
        stub.endStreams(how);
        assert.equal((await session.streamEnded)?.reason, reason);
        assert.equal(session.streamOpen, false);
        assert.equal(session.ended, null);
        await eventually(() => stub.counts().open === 0, 'no stream');
      }
      await session.close();
    }));

  test('DELETE brings the stream to its end', () =>
    withStub({}, async ({ transport }) => {
      const session = await openReady(transport);
      await session.openStream();
      await session.delete();
      assert.equal((await session.streamEnded)?.reason, 'eof');
    }));

  test('a second one may be refused without harm to the first', () =>
    withStub({}, async ({ transport }) => {
      const session = await openReady(transport);
      await session.openStream();
      const second = await session.openStream();
      assert.equal(second.outcome, 'refused');
      assert.equal(second.status, 409);
      assert.equal(session.streamOpen, true);
      await session.close();
    }));

  test('outlives the deadline that its opening had', () =>
    withStub({}, async ({ stub, transport }) => {
      const session = await openReady(transport);
      assert.equal((await session.openStream({ timeoutMs: 2_000 })).outcome, 'ok');
      assert.equal((await session.call('sleep', { seconds: 2.3 })).outcome, 'ok');
      assert.equal(session.streamOpen, true);
      await session.close();
      assert.equal(stub.counts().live, 0);
    }));
});

test('a call that DELETE ends with an empty answer is broken', () =>
  withStub({}, async ({ stub, transport }) => {
    const session = await openReady(transport);
    const running = session.call('sleep', RUNNING);
    await eventually(() => stub.counts().open === 1, 'a call');
    await session.delete();
    const called = await running;
    assert.equal(called.outcome, 'broken');
    assert.equal(called.status, 200);
  }));
