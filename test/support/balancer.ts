/** Several servers behind one address. */
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** Sends every other request to the other one: a balancer without session affinity. */
export async function balancer(t: TestContext, behind: readonly { readonly url: string }[]): Promise<string> {
  let turn = 0;
  const server: Server = createServer((incoming, outgoing) => {
    const { url = '' } = behind[turn++ % behind.length] ?? {};
    const { method, headers } = incoming;
    const onward = request(url, { method: method ?? 'GET', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
