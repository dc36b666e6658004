// Your server: the official TypeScript SDK, its transports in a Map by session id, as its documentation shows it.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

function tools() {
  const server = new McpServer({ name: 'example', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
}

/** @param {{ forget?: boolean }} [options] forget: false is the leak: what has ended stays in the Map */
export async function startServer({ forget = true } = {}) {
  const transports = new Map();

  async function open() {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => transports.set(id, transport),
    });
    transport.onclose = () => {
      if (forget) transports.delete(transport.sessionId);
    };
    await tools().connect(transport);
    return transport;
  }

  async function handle(request, response) {
    const id = request.headers['mcp-session-id'];
    if (id !== undefined && !transports.has(id)) return response.writeHead(404).end();
    const transport = transports.get(id) ?? (await open());
    await transport.handleRequest(request, response);
    // A refused opening has no session: its transport is let go of.
    if (transport.sessionId === undefined) await transport.close();
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    transports,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
