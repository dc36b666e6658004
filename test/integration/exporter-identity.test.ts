/** In every single scrape the registry holds what was there at the start, plus registrations, minus removals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scraper } from '../../exporters/scraper.ts';
import { silentLogger } from '../../src/log.ts';
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

for (const fault of [null, 'delete-keeps-entry', 'probe-lies'] as const)
  test(`identity under load and over three SIGKILLs, ${fault ?? 'clean'}`, async (t) => {
    const dir = await probeDir(t);
    const scraper = new Scraper([targetOf(dir, { name: 'shop' })], silentLogger());
    t.after(() => scraper.close());
    const seen: number[] = [];
    const workers = new Set<string>();
    let grew = 0;
    for (let life = 0; life < 4; life++) {
      const suspect = await spawnSuspect(t, dir, fault === null ? [] : ['--fault', fault]);
      let alive = true;
      const loading = load(suspect.url, () => alive);
      for (let i = 0; i < SCRAPES; i++) {
        // Two at once, as two Prometheus servers would.
        const pages = await Promise.all([1, 2].map(() => scraper.scrape('', PATIENT_MS)));
        for (const { body } of pages) {
          seen.push(...drifts(body));
          assert.deepEqual([...byWorker(body, 'mcp_sessions_registered').keys()], [String(suspect.pid)]);
          grew = Math.max(grew, ...byWorker(body, 'mcp_session_registrations_total').values());
        }
      }
      workers.add(String(suspect.pid));
      alive = false;
      if (life < 3) await killed(suspect);
      await loading;
    }
    assert.equal(workers.size, 4);
    assert.equal(seen.length, 4 * SCRAPES * 2);
    assert.ok(grew > 0, 'there was load');
    if (fault === 'probe-lies')
      assert.ok(
        seen.some((drift) => drift !== 0),
        'a lie shows',
      );
    else assert.deepEqual([...new Set(seen)], [0]);
  });
