/** Suspects under observation: an exporter that reads their probes, and a real Prometheus that scrapes it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { Scraper } from '../../exporters/scraper.ts';
import { silentLogger } from '../../src/log.ts';
import { sessionsRegistered } from '../../src/metrics/catalogue.ts';
import { probeDir, spawnSuspect, type SuspectProcess } from './exporter.ts';
import { startPrometheus, type RunningPrometheus } from './prometheus.ts';

export interface Observed {
  readonly prometheus: RunningPrometheus;
  /** By the targets' names. */
  readonly servers: Readonly<Record<string, SuspectProcess>>;
  /** Their probes' directories. */
  readonly probeDirs: Readonly<Record<string, string>>;
  /** A configuration that names them for `load`. */
  readonly config: string;
  /** What `load` must serve its metrics on. */
  readonly loadAddress: string;
  /** Until a query has an answer. */
  until(query: string): Promise<void>;
}

const SCRAPE = '500ms';
const PATIENT_MS = 60_000;

/**
 * @param targets name → arguments of the suspect, and whether an exporter reads it
 * @param args further arguments of prometheus
 */
export async function observe(
  t: TestContext,
  targets: Readonly<Record<string, { readonly args: readonly string[]; readonly exported?: false }>>,
  args: readonly string[] = [],
): Promise<Observed> {
  const dir = await probeDir(t);
  const names = Object.keys(targets);
  const dirs = Object.fromEntries(names.map((name) => [name, join(dir, name)]));
  for (const path of Object.values(dirs)) mkdirSync(path, { mode: 0o700 });
  const servers = Object.fromEntries(
    await Promise.all(
      names.map(
        async (name) => [name, await spawnSuspect(t, dirs[name] ?? '', targets[name]?.args)] as const,
      ),
    ),
  );
  const exported = names.filter((name) => targets[name]?.exported !== false);
  const exporter = await servePage(
    t,
    exported.map((name) => ({ name, path: dirs[name] ?? '' })),
  );
  const loadAddress = `127.0.0.1:${String(await freePort())}`;
  const prometheus = await startPrometheus(
    {
      global: { scrape_interval: SCRAPE, scrape_timeout: SCRAPE },
      scrape_configs: Object.entries({ exporter, load: loadAddress }).map(([job, address]) => ({
        job_name: job,
        static_configs: [{ targets: [address] }],
      })),
    },
    args,
  );
  t.after(() => prometheus.stop());
  const config = join(dir, 'mcp-retention.yaml');
  writeFileSync(config, stringify(configOf(servers, dirs)));
  const until = async (query: string): Promise<void> => {
    const deadline = performance.now() + PATIENT_MS;
    while ((await prometheus.query(query)).length === 0) {
      if (performance.now() > deadline) throw new Error(`no answer to ${query}`);
      await sleep(100);
    }
  };
  for (const name of exported) await until(`${sessionsRegistered.name}{target="${name}"}`);
  return { prometheus, servers, probeDirs: dirs, config, loadAddress, until };
}

const configOf = (
  servers: Readonly<Record<string, SuspectProcess>>,
  dirs: Readonly<Record<string, string>>,
): object => ({
  version: 1,
  targets: Object.fromEntries(Object.entries(servers).map(([name, { url }]) => [name, { url }])),
  exporter: {
    targets: Object.fromEntries(
      Object.entries(dirs).map(([name, probe]) => [name, { probeDir: probe, build: `suspect:${name}` }]),
    ),
  },
});

async function servePage(
  t: TestContext,
  targets: readonly { name: string; path: string }[],
): Promise<string> {
  const scraper = new Scraper(
    targets.map(({ name, path }) => ({
      name,
      place: { kind: 'directory', path },
      build: `suspect:${name}`,
      labels: {},
    })),
    silentLogger(),
  );
  const server = createServer((_request, response) => {
    void scraper.scrape('', PATIENT_MS).then(({ body, contentType }) => {
      response.setHeader('content-type', contentType);
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
    return scraper.close();
  });
  return `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
