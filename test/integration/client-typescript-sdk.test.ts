import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HttpTransport } from '../../src/client/http.ts';
import { sendRefusal, useId } from '../../src/client/use.ts';
import { REFUSALS } from '../../src/protocol/refusals.ts';
import { startTypescriptSdk } from '../fixtures/servers/typescript-sdk.ts';
import { eventually, openReady } from '../support/client.ts';

async function withSdk(
  deletesFromMap: boolean,
  run: (transport: HttpTransport, held: () => number) => Promise<void>,
): Promise<void> {
  const server = await startTypescriptSdk({ deletesFromMap });
  const transport = new HttpTransport({ url: server.url, headers: {}, timeoutMs: 20_000 });
  try {
    await run(transport, () => server.held());
  } finally {
    await transport.close();
    await server.close();
  }
}

describe("the TypeScript SDK's own transport", () => {
  test('a whole life, with stream and calls', () =>
    withSdk(true, async (transport, held) => {
      const session = await openReady(transport);
      assert.equal(session.offersTools, true);
      assert.equal((await session.openStream()).outcome, 'ok');
      assert.equal((await session.call('echo', { text: 'hello' })).outcome, 'ok');
      assert.equal((await session.call('sleep', { seconds: 0.05 })).outcome, 'ok');
      assert.equal((await session.ping()).outcome, 'ok');
      const missing = await session.call('no-such-tool', {});
      assert.equal(missing.outcome, 'refused');
      assert.equal(held(), 1);
      assert.equal((await session.delete()).outcome, 'ok');
      assert.equal((await session.streamEnded)?.reason, 'eof');
      assert.equal(held(), 0);
      assert.ok(session.id !== null);
      for (const method of ['POST', 'GET', 'DELETE'] as const) {
        assert.equal((await useId(transport, session.id, method)).status, 404);
      }
    }));

  test('closing in the middle of a call', () =>
    withSdk(true, async (transport, held) => {
      const session = await openReady(transport);
      const running = session.call('sleep', { seconds: 30 });
      await session.ping();
      assert.equal((await session.close()).outcome, 'ok');
      assert.equal((await running).outcome, 'local');
      await eventually(() => held() === 0, 'the map empty');
    }));

  test('keeps ended sessions in its map where nobody deletes them', () =>
    withSdk(false, async (transport, held) => {
      for (let round = 0; round < 3; round++) {
        const session = await openReady(transport);
        assert.equal((await session.delete()).outcome, 'ok');
      }
      assert.equal(held(), 3);
    }));

  test('refuses every opening that is not lenient', () =>
    withSdk(true, async (transport, held) => {
      for (const refusal of REFUSALS) {
        const { exchange, opened } = await sendRefusal(transport, refusal);
        if (!refusal.lenient) assert.equal(exchange.outcome, 'refused', refusal.kind);
        if (opened !== null) assert.equal((await useId(transport, opened, 'DELETE')).outcome, 'ok');
      }
      assert.equal(held(), 0);
    }));
});
