/** The health check of the servers' image. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { projectFile } from '../support/compose.ts';

test('a server is asked by a script that tells 200 from anything else', async () => {
  const page = createServer((incoming, answer) => {
    answer.writeHead(incoming.url === '/healthz' ? 200 : 503).end();
  });
  await once(page.listen(0, '127.0.0.1'), 'listening');
  const { port } = page.address() as AddressInfo;
  const script = fileURLToPath(projectFile('servers/python/healthz.py'));
  const ask = async (path: string): Promise<number | undefined> => {
    const url = `http://127.0.0.1:${port}${path}`;
    const { exitCode } = await execa('python3', ['-S', script, url], { reject: false });
    return exitCode;
  };
  assert.deepEqual([await ask('/healthz'), await ask('/other')], [0, 1]);
  page.close();
  await once(page, 'close');
  assert.equal(await ask('/healthz'), 1);
});
