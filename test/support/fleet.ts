/**
 * A small fleet under load, as operators have it: a server that keeps deleted sessions, one that lets go, an exporter,
 * and what a load side says of both.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { stringify } from 'yaml';
import * as metrics from '../../src/metrics/catalogue.ts';
import type { Metric } from '../../src/metrics/metric.ts';
import { Speaker } from '../fixtures/servers/speaker.ts';
import { COMMAND } from './cli.ts';

export const KEEPER = { target: 'affected', build: 'suspect@1' };
export const CLEAN = { target: 'patched', build: 'suspect@2' };

export interface Fleet {
  /** `host:port` of the exporter and of the load side's metrics. */
  readonly exporter: string;
  readonly load: string;
  /** Kills the first server without a word and starts it anew. */
  restart(): Promise<void>;
  /** Kills it for good. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFleet(): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'mcpr-fleet-'));
  const keeperArgs = ['--fault', 'delete-keeps-entry', '--max-sessions', '20000'];
  let keeper = await startServer(probeDir(folder, KEEPER.target), keeperArgs);
  const clean = await startServer(probeDir(folder, CLEAN.target), [
    '--idle-timeout',
    '0.5',
    '--max-sessions',
    '3',
  ]);
  const exporter = await startExporter(folder);
  const page = await serve(exporter.address);
  const ledger = new Ledger();
  let busy = true;
  const load = (async () => {
    while (busy) {
      await Promise.all([ledger.deleting(keeper.url), ledger.crowding(clean.url)]);
      await sleep(50);
    }
  })();
  return {
    exporter: page.address,
    load: await ledger.serve(),
    restart: async () => {
      const ended = keeper;
      keeper = await startServer(probeDir(folder, KEEPER.target), keeperArgs);
      await end(ended.child, 'SIGKILL');
    },
    kill: () => end(keeper.child, 'SIGKILL'),
    stop: async () => {
      busy = false;
      await load;
      await ledger.close();
      page.server.closeAllConnections();
      page.server.close();
      await Promise.all([keeper.child, clean.child, exporter.child].map((child) => end(child, 'SIGTERM')));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
}

const SUSPECT = new URL('../fixtures/servers/suspect.ts', import.meta.url).pathname;
const [NODE = '', ...WITH_TSX] = COMMAND.slice(0, -1);

const probeDir = (folder: string, name: string): string => join(folder, name);

async function startServer(dir: string, args: readonly string[]): Promise<Started> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const child = spawn(NODE, [...WITH_TSX, SUSPECT, ...args], {
    env: { ...process.env, MCP_RETENTION_PROBE_DIR: dir },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ready = JSON.parse(await firstLine(child)) as { url: string };
  return { child, url: ready.url };
}

async function startExporter(folder: string): Promise<{ child: ChildProcess; address: string }> {
  const config = join(folder, 'mcp-retention.yaml');
  const targets = Object.fromEntries(
    [KEEPER, CLEAN].map(({ target, build }) => [target, { probeDir: probeDir(folder, target), build }]),
  );
  writeFileSync(config, stringify({ version: 1, exporter: { targets } }));
  const child = spawn(
    NODE,
    [...COMMAND.slice(1), 'exporter', '--config', config, '--listen', '127.0.0.1:0', '--log-level', 'error'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const said = await firstLine(child);
  return { child, address: new URL(said.replace('serving ', '')).host };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no stdout');
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`ended with ${String(code)} before it was ready`);
  });
  const line = once(createInterface({ input: child.stdout }), 'line').then(([text]) => text as string);
  // It ends in the end, when nobody waits for it any more.
  ended.catch(() => undefined);
  return Promise.race([line, ended]);
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** The exporter's page, with a memory limit for each worker where this machine's control groups have none. */
async function serve(exporter: string): Promise<{ server: Server; address: string }> {
  const server = createServer((_request, response) => {
    void (async () => {
      const page = await fetch(`http://${exporter}/metrics`);
      const text = await page.text();
      const limit = metrics.serverMemoryLimit.name;
      const limits = text.includes(`${limit}{`)
        ? []
        : [...text.matchAll(new RegExp(`^${metrics.serverResidentMemory.name}(\\{.*\\}) `, 'gm'))].map(
            ([, labels = '']) => `${limit}${labels} 1e9`,
          );
      const own = text.split('\n').filter((line) => !line.includes(` ${limit} `));
      response.setHeader('content-type', page.headers.get('content-type') ?? 'text/plain');
      response.end([...own, ...limits, ''].join('\n'));
    })().catch(() => response.writeHead(500).end());
  });
  return { server, address: await listen(server) };
}

async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const COUNTERS = [
  metrics.clientOpened,
  metrics.clientDeleted,
  metrics.clientAbandoned,
  metrics.clientRefused,
  metrics.clientUncertain,
  metrics.clientRequests,
] as const;

/** The load side: plays, and tells it as mcp-retention load does and, in a run of its own, as k6 does. */
class Ledger {
  readonly #registry = new Registry();
  readonly #counters = new Map<string, Counter>();
  readonly #expected: Gauge;
  readonly #late: Counter;
  readonly #durations: Histogram;
  #server: Server | null = null;

  constructor() {
    const shape = ({ name, help, labels }: Metric) => ({
      name,
      help,
      labelNames: labels,
      registers: [this.#registry],
    });
    for (const metric of COUNTERS) {
      this.#counters.set(metric.name, new Counter(shape(metric)));
      const name = `k6_${metric.name}_total`;
      this.#counters.set(
        name,
        new Counter({ ...shape(metric), name, labelNames: [...metric.labels, 'scenario'] }),
      );
    }
    this.#expected = new Gauge(shape(metrics.clientExpected));
    this.#late = new Counter(shape(metrics.clientArrivalsLate));
    this.#durations = new Histogram(shape(metrics.clientRequestDuration));
    for (const labels of [KEEPER, CLEAN]) this.#begin({ ...labels, case: 'mixed', run: 'run-1' });
  }

  /** Opens and deletes, with a call of its own. */
  async deleting(url: string): Promise<void> {
    const speaker = new Speaker(url);
    try {
      const id = await speaker.open();
      this.#count(KEEPER, metrics.clientOpened);
      this.#request(KEEPER, 'POST', 200);
      const { status } = await speaker.ask('DELETE', { id });
      this.#request(KEEPER, 'DELETE', status);
      this.#count(KEEPER, metrics.clientDeleted);
    } catch {
      this.#count(KEEPER, metrics.clientUncertain);
    } finally {
      await speaker.close();
    }
  }

  /** More than the cap at once: some are refused, some deleted, the rest left to expire. */
  async crowding(url: string): Promise<void> {
    const speaker = new Speaker(url);
    try {
      const answers = await Promise.all(Array.from({ length: 5 }, () => speaker.initialize()));
      for (const { status } of answers) {
        this.#request(CLEAN, 'POST', status);
        if (status === 200) this.#count(CLEAN, metrics.clientOpened);
        else this.#count(CLEAN, metrics.clientRefused, { reason: 'over-cap' });
      }
      const [first, ...others] = answers.filter(({ status }) => status === 200);
      if (first === undefined) return;
      await speaker.ask('DELETE', { id: first.id });
      this.#count(CLEAN, metrics.clientDeleted);
      others.forEach(() => this.#count(CLEAN, metrics.clientAbandoned));
    } finally {
      await speaker.close();
    }
  }

  async serve(): Promise<string> {
    this.#server = createServer((_request, response) => {
      void this.#registry.metrics().then((text) => response.end(text));
    });
    return listen(this.#server);
  }

  async close(): Promise<void> {
    if (this.#server === null) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #begin(labels: Record<string, string>): void {
    this.#expected.set({ ...labels, bound: 'min' }, 0);
    this.#expected.set({ ...labels, bound: 'max' }, 3);
    this.#late.inc({ ...labels, reason: 'behind' }, 0);
    this.#counters.get(metrics.clientUncertain.name)?.inc(labels, 0);
  }

  #request(of: typeof KEEPER, method: string, status: number): void {
    this.#count(of, metrics.clientRequests, { method, status: String(status) });
    this.#durations.observe({ ...of, case: 'mixed', run: 'run-1' }, 0.01);
  }

  #count(of: typeof KEEPER, metric: Metric, more: Record<string, string> = {}): void {
    const labels = { ...of, case: 'mixed', ...more };
    this.#counters.get(metric.name)?.inc({ ...labels, run: 'run-1' });
    const k6 = { ...labels, target: `${of.target}-k6`, run: 'k6-1', scenario: 'mixed' };
    this.#counters.get(`k6_${metric.name}_total`)?.inc(k6);
  }
}
