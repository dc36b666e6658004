/** Many probes in one process of their own, each on its Unix socket: what a scrape of many workers meets. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROCESS_SCHEMA, SNAPSHOT_SCHEMA } from '../../src/observe/snapshot.ts';

const OWN_FILE = fileURLToPath(import.meta.url);
const golden = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../../test/golden/${name}`, import.meta.url), 'utf8')) as object;

/** No process of a machine has such a number: as if the workers ran in another container. */
const ELSEWHERE = 2_000_000_001;

/** visible: the workers are processes of this machine, whose /proc can be read. */
export type FakeWorkers = 'visible' | 'elsewhere';
/** Registered at each of them, as the golden snapshot says. */
export const FAKE_SESSIONS = 5;

export interface FakeProbes {
  stop(): Promise<void>;
}

export async function startFakeProbes(dir: string, workers: number, kind: FakeWorkers): Promise<FakeProbes> {
  const sleepers = kind === 'visible' ? Array.from({ length: workers }, () => spawn('sleep', ['600'])) : [];
  const pids =
    kind === 'visible'
      ? sleepers.map(({ pid }) => pid ?? 0)
      : Array.from({ length: workers }, (_, i) => ELSEWHERE + i);
  const child = fork(OWN_FILE, [dir, ...pids.map(String)], {
    execArgv: ['--import', 'tsx'],
    stdio: 'inherit',
  });
  await once(child, 'message');
  return {
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
      for (const sleeper of sleepers) sleeper.kill('SIGKILL');
    },
  };
}

async function serve(dir: string, pids: readonly number[]): Promise<void> {
  const snapshot = golden('probe-snapshot.v1.json');
  const message = golden('probe-process.v1.json') as { files: Record<string, string> };
  const listening = pids.map((pid) => {
    const stat = statOf(pid) ?? message.files['/proc/self/stat'];
    const files = { ...message.files, '/proc/self/stat': stat };
    const answers: Record<string, string> = {
      '/v1/snapshot': JSON.stringify({ ...snapshot, schema: SNAPSHOT_SCHEMA, pid }),
      '/v1/process': JSON.stringify({ ...message, schema: PROCESS_SCHEMA, files, pid }),
    };
    const server = createServer((req, res) => {
      // One request a connection, as the Python probe has it.
      res.setHeader('connection', 'close');
      res.end(answers[req.url ?? ''] ?? '{}');
    });
    return once(server.listen(join(dir, `${pid}.sock`)), 'listening');
  });
  await Promise.all(listening);
  process.once('disconnect', () => process.exit(0));
  process.send?.('ready');
}

function statOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
}

if (process.argv[1] === OWN_FILE) {
  const [dir = '', ...pids] = process.argv.slice(2);
  await serve(dir, pids.map(Number));
}
