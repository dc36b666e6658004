/** Servers with probes, stubs of probes, and a scraper, each gone with its test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { Scraper } from '../../exporters/scraper.ts';
import { serveMetrics, type MetricsServer, type ServeOptions } from '../../exporters/server.ts';
import type { ExporterTarget } from '../../exporters/targets.ts';
import { silentLogger, type Logger } from '../../src/log.ts';

/** Enough for any machine. */
export const PATIENT_MS = 20_000;

/** A directory as probes want it. */
export async function probeDir(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'mcpr-exp-'));
  await chmod(dir, 0o700);
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export const targetOf = (path: string, more: Partial<ExporterTarget> = {}): ExporterTarget => ({
  name: basename(path),
  place: { kind: 'directory', path },
  build: null,
  labels: {},
  ...more,
});

export interface Scrape {
  readonly page: (deadlineMs?: number) => Promise<string>;
  readonly scraper: Scraper;
}

export function scraping(
  t: TestContext,
  targets: readonly ExporterTarget[],
  log: Logger = silentLogger(),
): Scrape {
  const scraper = new Scraper(targets, log);
  t.after(() => scraper.close());
  return { scraper, page: async (deadlineMs = PATIENT_MS) => (await scraper.scrape('', deadlineMs)).body };
}

/** A program in place of a probe, as the probe of `worker`. */
export async function stubProbe(
  t: TestContext,
  dir: string,
  worker: number,
  server: Server | RequestListener,
): Promise<void> {
  const listener = typeof server === 'function' ? createHttpServer(server) : server;
  const sockets = new Set<Socket>();
  listener.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  await once(listener.listen(join(dir, `${worker}.sock`)), 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
}

export interface SuspectProcess {
  readonly url: string;
  readonly pid: number;
  readonly child: ChildProcess;
}

const SUSPECT = new URL('../fixtures/servers/suspect.ts', import.meta.url).pathname;

/** A suspect in a process of its own, which ends with the test at the latest. */
export async function spawnSuspect(
  t: TestContext,
  dir: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<SuspectProcess> {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), SUSPECT, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, MCP_RETENTION_PROBE_DIR: dir, ...env },
  });
  t.after(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { url, pid } = JSON.parse(line) as { url: string; pid: number };
  return { url, pid, child };
}

export async function killed({ child }: SuspectProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Pages on a port of their own; /metrics shows what it was asked with. */
export async function serving(t: TestContext, options: Partial<ServeOptions> = {}): Promise<MetricsServer> {
  const server = await serveMetrics({
    listen: '127.0.0.1:0',
    title: 'a title & <more>',
    signal: new AbortController().signal,
    render: (accept, deadlineMs) =>
      Promise.resolve({ contentType: 'text/plain', body: `${accept} ${deadlineMs}\n` }),
    ...options,
  });
  t.after(() => server.close());
  return server;
}

/** Socket files of a process that was killed: nobody will ever answer there. */
export async function staleSockets(dir: string, first: number, count: number): Promise<void> {
  const listen = `const { createServer } = require('node:net');
    let left = ${count};
    for (let i = 0; i < ${count}; i++)
      createServer().listen(${JSON.stringify(dir)} + '/' + (${first} + i) + '.sock', () => {
        if (--left === 0) console.log('all');
      });`;
  const child = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(createInterface(child.stdout), 'line');
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
