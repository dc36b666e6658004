/** Servers and sessions for the tests of the client. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { HttpTransport } from '../../src/client/http.ts';
import { McpSession } from '../../src/client/session.ts';
import type { Endpoint } from '../../src/client/types.ts';
import { startStub, type Stub, type StubOptions } from '../fixtures/servers/stub.ts';

export interface Setting {
  readonly stub: Stub;
  readonly transport: HttpTransport;
}

/** Runs against a stub of its own; both sides are closed afterwards, whatever happened. */
export async function withStub(
  options: StubOptions,
  run: (setting: Setting) => Promise<void>,
  endpoint: Partial<Endpoint> = {},
): Promise<void> {
  const stub = await startStub({ record: true, ...options });
  const transport = new HttpTransport({ url: stub.url, headers: {}, timeoutMs: 20_000, ...endpoint });
  try {
    await run({ stub, transport });
  } finally {
    await transport.close();
    await stub.close();
  }
}

/** A session that is open and initialized. */
export async function openReady(transport: HttpTransport): Promise<McpSession> {
  const { exchange, session } = await McpSession.open(transport);
  assert.ok(session !== null, exchange.note);
  assert.equal((await session.initialized()).outcome, 'ok');
  return session;
}

/** Polls until it holds; fails after 20 seconds. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!holds()) {
    assert.ok(performance.now() < deadline, `not within 20 s: ${what}`);
    await delay(5);
  }
}
