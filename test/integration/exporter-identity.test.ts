/** In every single scrape the registry holds what was there at the start, plus registrations, minus removals. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Scraper } from '../../exporters/scraper.ts';
import { parseConfig } from '../../src/config/load.ts';
import { silentLogger } from '../../src/log.ts';
import { resolveTarget } from '../../src/targets/resolve.ts';
import { Speaker } from '../fixtures/servers/speaker.ts';
import { killed, PATIENT_MS, probeDir, spawnSuspect, targetOf } from '../support/exporter.ts';
import { byWorker } from '../support/exposition.ts';

/** Scrapes during each life of the server. */
const SCRAPES = 15;
const CLIENTS = 4;

/** Opens and deletes without end; what breaks when the server is killed is left. */
async function load(url: string, alive: () => boolean): Promise<void> {
  const speaker = new Speaker(url);
  const client = async (): Promise<void> => {
    while (alive()) {
      try {
        const id = await speaker.open();
        if (Math.random() < 0.7) await speaker.ask('DELETE', { id });
      } catch {
        if (alive()) continue;
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await speaker.close();
}

/** Identity drift by worker. */
function drifts(page: string): number[] {
  const of = (name: string) => byWorker(page, name);
  const [start, added, removed] = [
    of('mcp_sessions_registered_at_start'),
    of('mcp_session_registrations_total'),
    of('mcp_session_removals_total'),
  ];
  return [...of('mcp_sessions_registered')].map(
    ([worker, now]) =>
      now - ((start.get(worker) ?? NaN) + (added.get(worker) ?? NaN) - (removed.get(worker) ?? NaN)),
  );
}

interface Life {
  readonly url: string;
  readonly pid: number;
  readonly kill: () => Promise<void>;
}

type Program = (t: TestContext, dir: string) => Promise<() => Promise<Life>>;

const suspect =
  (...args: string[]): Program =>
  (t, dir) =>
    Promise.resolve(async () => {
      const process = await spawnSuspect(t, dir, args);
      return { ...process, kill: () => killed(process) };
    });

/** A real build, in its own environment. */
const build =
  (name: string): Program =>
  async (t, dir) => {
    const { signal } = new AbortController();
    const target = resolveTarget(name, {
      config: parseConfig('version: 1', ''),
      allowHosts: [],
      headers: {},
    });
    const prepared = await target.prepare(signal, () => undefined);
    return async () => {
      const settings = {};
      const running = await prepared.start({ settings, probeDir: dir, logFile: `${dir}.log`, signal });
      t.after(async () => {
        await running.stop();
        await rm(`${dir}.log`, { force: true });
      });
      const { url, pid } = running;
      assert.ok(pid !== null);
      const kill = async (): Promise<void> => {
        process.kill(pid, 'SIGKILL');
        while (await running.alive()) await sleep(5);
      };
      return { url, pid, kill };
    };
  };

const PROGRAMS: Readonly<Record<string, Program>> = {
  'a clean server': suspect(),
  'one whose DELETE keeps the entry': suspect('--fault', 'delete-keeps-entry'),
  'one whose probe lies': suspect('--fault', 'probe-lies'),
  'python:mcp@1.29.1': build('python:mcp@1.29.1'),
  'python:mcp@2.2.0': build('python:mcp@2.2.0'),
};

/** Identity drifts of one life's scrapes. @param end what is done to it while the load goes on */
async function scraped(scraper: Scraper, { url, pid }: Life, end: () => Promise<void>): Promise<number[]> {
  const seen: number[] = [];
  let grew = 0;
  let alive = true;
  const loading = load(url, () => alive);
  // So many, and until the load was seen: on a busy machine a server is slow to serve.
  for (let i = 0; i < SCRAPES || grew === 0; i++) {
    // Two at once, as two Prometheus servers would.
    const pages = await Promise.all([1, 2].map(() => scraper.scrape('', PATIENT_MS)));
    for (const { body } of pages) {
      seen.push(...drifts(body));
      assert.deepEqual([...byWorker(body, 'mcp_sessions_registered').keys()], [String(pid)]);
      grew = Math.max(grew, ...byWorker(body, 'mcp_session_registrations_total').values());
    }
  }
  await end();
  alive = false;
  await loading;
  return seen;
}

for (const [what, program] of Object.entries(PROGRAMS))
  test(`identity under load and over three SIGKILLs, ${what}`, async (t) => {
    const dir = await probeDir(t);
    const scraper = new Scraper([targetOf(dir, { name: 'shop' })], silentLogger());
    t.after(() => scraper.close());
    const begin = await program(t, dir);
    const seen: number[] = [];
    const workers = new Set<number>();
    for (let lives = 0; lives < 4; lives++) {
      const life = await begin();
      workers.add(life.pid);
      seen.push(...(await scraped(scraper, life, () => (lives < 3 ? life.kill() : Promise.resolve()))));
    }
    assert.equal(workers.size, 4);
    assert.ok(seen.length >= 4 * SCRAPES * 2);
    if (what === 'one whose probe lies')
      assert.ok(
        seen.some((drift) => drift !== 0),
        'a lie shows',
      );
    else assert.deepEqual([...new Set(seen)], [0]);
  });
