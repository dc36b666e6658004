/**
 * The probe of a server in this process: watches the registry that the server keeps its transports in, and answers
 * the contract of src/observe/snapshot.ts on a Unix socket. Nothing of the server changes but three methods of its
 * Map or Set, for as long as it is watched.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { processMessage } from './process-message.ts';
import { countRegistry, type Registry, type RegistryWatch } from './registry.ts';
import { snapshotOf } from './snapshot.ts';

export interface RunningProbe {
  /** Stops answering and gives the registry its own methods back. */
  close(): void;
}

/**
 * @param directory where `<pid>.sock` is made: a folder of this user's alone
 * @throws UsageError where the registry cannot be counted exactly; the system's error where the socket cannot be bound
 */
export async function watchRegistry(registry: Registry, directory: string): Promise<RunningProbe> {
  const watch = countRegistry(registry);
  const server = createServer((request, response) => void answer(watch, request, response));
  // What is measured decides when the process ends, never the probe.
  server.on('connection', (socket) => socket.unref()).unref();
  const close = (): void => {
    watch.stop();
    server.close();
    server.closeAllConnections();
  };
  try {
    await once(server.listen(join(directory, `${process.pid}.sock`)), 'listening');
  } catch (error) {
    close();
    throw error;
  }
  return { close };
}

async function answer(
  watch: RegistryWatch,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const route = request.method === 'GET' ? request.url : null;
  const body =
    route === '/v1/snapshot'
      ? snapshotOf(watch.counts())
      : route === '/v1/process'
        ? await processMessage()
        : null;
  response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body ?? { error: 'not found' }));
}
