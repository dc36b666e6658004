import test from 'node:test';
import { assertReleases } from 'mcp-retention';
import { startServer } from './server.js';

test('the server lets go of its sessions', async (t) => {
  const { url, transports, close } = await startServer();
  t.after(close);
  await assertReleases(url, { registry: transports, sessions: 50 });
});
