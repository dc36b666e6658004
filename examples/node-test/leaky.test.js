// This one fails: the README shows how.
import test from 'node:test';
import { assertReleases } from 'mcp-retention';
import { startServer } from './server.js';

test('a server that forgets to forget', async (t) => {
  const { url, transports, close } = await startServer({ forget: false });
  t.after(close);
  await assertReleases(url, { registry: transports, cases: ['delete'], sessions: 50 });
});
