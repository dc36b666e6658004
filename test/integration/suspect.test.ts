import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { snapshotSchema } from '../../src/observe/snapshot.ts';
import { REFUSALS } from '../../src/protocol/refusals.ts';
import { eventually, INITIALIZE, rpc, toolCall, type Speaker } from '../fixtures/servers/speaker.ts';
import { withSuspect } from '../fixtures/servers/with-suspect.ts';

/** What the patched builds answer to each opening that must be refused. */
const REFUSED: Record<string, number> = {
  'ping-without-session': 400,
  'notification-without-session': 400,
  'made-up-session-id': 404,
  'accept-json-only': 406,
  'accept-event-stream-only': 406,
  'accept-html': 406,
  'accept-any': 200,
  'content-type-text': 400,
  'bad-json': 400,
  'empty-body': 400,
  'wrong-shape': 400,
  'json-array': 400,
  'get-event-stream': 400,
  'get-json': 406,
  head: 405,
  'delete-without-session': 400,
  put: 405,
  patch: 405,
  options: 405,
  'bad-host': 421,
  'bad-origin': 403,
  'unknown-protocol-version': 400,
};

async function assertGone(speaker: Speaker, id: string): Promise<void> {
  const answers = [
    await speaker.post(id, rpc('ping')),
    await speaker.ask('GET', { id }),
    await speaker.ask('DELETE', { id }),
    await speaker.post(id, INITIALIZE),
  ];
  for (const answer of answers) {
    assert.equal(answer.status, 404);
    assert.equal(answer.message?.error?.code, -32600);
    assert.equal(answer.id, undefined);
  }
}

for (const replies of ['sse', 'json'] as const) {
  test(`a clean session from open to close, ${replies} replies`, () =>
    withSuspect({ replies }, async ({ speaker, counts }) => {
      const opened = await speaker.initialize();
      assert.equal(opened.status, 200);
      assert.ok(opened.id !== undefined && opened.message?.result !== undefined);
      const { id } = opened;
      const initialized = await speaker.post(id, '{"jsonrpc":"2.0","method":"notifications/initialized"}');
      assert.deepEqual([initialized.status, initialized.text], [202, '']);
      assert.equal(await speaker.ping(id), 200);
      const echo = await speaker.post(id, toolCall('echo', { text: 'hallo' }));
      assert.equal(echo.message?.result?.content?.[0]?.text, 'hallo');
      assert.equal((await speaker.post(id, rpc('tools/list'))).message?.result?.tools?.length, 2);
      assert.equal((await speaker.post(id, rpc('no/such'))).message?.error?.code, -32601);
      assert.equal((await speaker.post(id, '{"no')).status, 400);
      assert.equal((await speaker.ask('PUT', { id, body: INITIALIZE })).status, 405);

      const stream = await speaker.stream(id);
      assert.equal(stream.status, 200);
      assert.equal((await speaker.ask('GET', { id })).status, 409);
      assert.deepEqual([counts().registered, counts().inFlight, counts().streamsOpen], [1, 1, 1]);

      const deleted = await speaker.ask('DELETE', { id });
      assert.deepEqual([deleted.status, deleted.text], [200, '']);
      assert.equal(counts().registered, 0);
      await stream.ended;
      await assertGone(speaker, id);
      const { registrations, removals, expirations, remnants, endedSessionDurations } = counts();
      assert.deepEqual([registrations, removals, expirations, remnants], [1, 1, 0, 0]);
      assert.equal(endedSessionDurations.count, 1);
    }));
}

test('every opening that must be refused is refused and leaves nothing', () =>
  withSuspect({}, async ({ speaker, counts }) => {
    for (const { kind, method, headers, body } of REFUSALS) {
      const { status, id } = await speaker.ask(method, { headers, body });
      assert.equal(status, REFUSED[kind], kind);
      if (status === 200) assert.equal(await speaker.delete(id ?? ''), 200);
      assert.equal(counts().registered, 0, kind);
      if (id !== undefined) await assertGone(speaker, id);
    }
    const large = await speaker.ask('POST', { body: ' '.repeat(4 * 1024 * 1024 + 1) });
    assert.equal(large.status, 413);
    assert.equal(counts().registered, 0);
  }));

test('a refusal echoes a fresh id, as the real builds do', () =>
  withSuspect({}, async ({ speaker }) => {
    const { id } = await speaker.post(undefined, rpc('ping'));
    assert.match(id ?? '', /^[0-9a-f]{32}$/);
  }));

test('initialize with wrong parameters answers 200 with an error and stays registered', () =>
  withSuspect({}, async ({ speaker, counts }) => {
    const answer = await speaker.post(undefined, rpc('initialize', {}));
    assert.deepEqual([answer.status, answer.message?.error?.code], [200, -32602]);
    assert.equal(counts().registered, 1);
  }));

test('the cap is exact, evicts nobody and has room again after a DELETE', () =>
  withSuspect({ maxSessions: 5 }, async ({ speaker, counts }) => {
    const first = await speaker.open();
    const raced = await Promise.all(Array.from({ length: 20 }, () => speaker.initialize()));
    const won = raced.filter(({ status }) => status === 200);
    assert.deepEqual([won.length, counts().registered, counts().rejections], [4, 5, 16]);
    const lost = raced.find(({ status }) => status !== 200);
    assert.deepEqual([lost?.status, lost?.message?.error?.code, lost?.id], [503, -32603, undefined]);
    assert.equal((await speaker.ask('GET')).status, 503);
    assert.equal((await speaker.post(undefined, '{"no')).status, 503);
    for (const id of [first, ...won.map((answer) => answer.id ?? '')])
      assert.equal(await speaker.ping(id), 200);
    assert.equal(await speaker.delete(first), 200);
    assert.equal((await speaker.initialize()).status, 200);
    assert.equal((await speaker.initialize()).status, 503);
  }));

test('an abandoned session expires, and its id is refused', () =>
  withSuspect({ idleTimeout: 0.3 }, async ({ speaker, counts }) => {
    const id = await speaker.open();
    await eventually('it expires', () => counts().registered === 0);
    await assertGone(speaker, id);
    assert.deepEqual([counts().removals, counts().expirations], [1, 1]);
  }));

test('an open stream and a running call keep their sessions; afterwards they expire', () =>
  withSuspect({ idleTimeout: 0.8 }, async ({ speaker, counts }) => {
    const quiet = await speaker.open();
    const stream = await speaker.stream(quiet);
    const busy = await speaker.open();
    const slow = await speaker.post(busy, toolCall('sleep', { seconds: 2 }));
    assert.equal(slow.message?.result?.content?.[0]?.text, 'slept 2 s');
    assert.equal(await speaker.ping(quiet), 200);
    stream.leave();
    await eventually('both expire', () => counts().expirations === 2);
    assert.equal(counts().registered, 0);
  }));

test('a client that drops its call is no longer in flight, and the session expires', () =>
  withSuspect({ idleTimeout: 0.8 }, async ({ speaker, counts }) => {
    const id = await speaker.open();
    const { body } = await speaker.raw('POST', { id, body: toolCall('sleep', { seconds: 3600 }) });
    assert.equal(counts().inFlight, 1);
    body.on('error', () => undefined).destroy();
    await eventually('it expires', () => counts().registered === 0);
    assert.equal(counts().expirations, 1);
  }));

test('DELETE during a call ends the call with an empty body', () =>
  withSuspect({}, async ({ speaker, counts }) => {
    const id = await speaker.open();
    const { statusCode, body } = await speaker.raw('POST', {
      id,
      body: toolCall('sleep', { seconds: 3600 }),
    });
    assert.equal(await speaker.delete(id), 200);
    assert.deepEqual([statusCode, await body.text()], [200, '']);
    assert.equal(counts().registered, 0);
  }));

test('the snapshot follows the contract; ages are of idle sessions alone', () =>
  withSuspect({}, async ({ suspect, speaker, counts }) => {
    const snapshot = suspect.snapshot();
    assert.deepEqual(snapshotSchema.parse(snapshot), snapshot);
    assert.deepEqual([counts().idleTimeoutSeconds, counts().sessionLimit], [1800, 10_000]);
    assert.equal(counts().oldestIdleSeconds, null);
    const id = await speaker.open();
    await speaker.stream(id);
    assert.equal(counts().oldestIdleSeconds, null);
    await speaker.open();
    await sleep(20);
    assert.ok((counts().oldestIdleSeconds ?? 0) > 0.01);
  }));
