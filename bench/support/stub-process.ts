/** The stub in a process of its own, so that it does not share the event loop of what is measured. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startStub } from '../../test/fixtures/servers/stub.ts';

export interface StubProcess {
  readonly url: string;
  /** What the stub has counted so far. */
  counts(): Promise<{ opened: number; deleted: number; live: number }>;
  stop(): Promise<void>;
}

const OWN_FILE = fileURLToPath(import.meta.url);

export async function startStubProcess(): Promise<StubProcess> {
  const child = fork(OWN_FILE, { execArgv: ['--import', 'tsx'], stdio: 'inherit' });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return {
    url,
    counts: async () => {
      child.send('counts');
      const [counts] = (await once(child, 'message')) as [{ opened: number; deleted: number; live: number }];
      return counts;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

async function serve(): Promise<void> {
  const stub = await startStub();
  process.on('message', () => {
    const { opened, deleted, live } = stub.counts();
    process.send?.({ opened, deleted, live });
  });
  // Also when the benchmark is gone without a word.
  process.once('disconnect', () => void stub.close());
  process.send?.({ url: stub.url });
}

if (process.argv[1] === OWN_FILE) await serve();
