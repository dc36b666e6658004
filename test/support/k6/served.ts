/** A build under a probe with the exporter's page beside it, as k6 scripts meet it. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { CaseSettings } from '../../../src/cases/case.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { ProbeReader, toManagerSamples } from '../../../src/observe/sessions.ts';
import type { ManagerSample } from '../../../src/recording/schema.ts';
import { resolveTarget } from '../../../src/targets/resolve.ts';
import { PATIENT_MS, scraping, serving, targetOf } from '../exporter.ts';

export interface Served {
  readonly url: string;
  /** Address of the exporter's /metrics. */
  readonly metrics: string;
  readonly probeDir: string;
  /** The counts of its only manager now. */
  readonly counts: () => Promise<ManagerSample>;
}

/** @param config text of mcp-retention.yaml, where the target stands in it */
export async function served(
  t: TestContext,
  target: string,
  settings: CaseSettings,
  config = 'version: 1',
): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'mcpr-k6-'));
  const probeDir = join(folder, 'probe');
  mkdirSync(probeDir, { mode: 0o700 });
  const { signal } = new AbortController();
  const build = resolveTarget(target, {
    config: parseConfig(config, 'test.yaml'),
    allowHosts: [],
    headers: {},
  });
  const prepared = await build.prepare(signal, () => undefined);
  const able = new Set(prepared.record.abilities.settings);
  const running = await prepared.start({
    settings: {
      ...(able.has('idleTimeout') &&
        settings.idleTimeoutSeconds !== undefined && { idleTimeoutSeconds: settings.idleTimeoutSeconds }),
      ...(able.has('maxSessions') &&
        settings.maxSessions !== undefined && { maxSessions: settings.maxSessions }),
    },
    probeDir,
    logFile: join(folder, 'server.log'),
    signal,
  });
  const reader = new ProbeReader();
  t.after(async () => {
    await reader.close();
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const { scraper } = scraping(t, [targetOf(probeDir)]);
  const exporter = await serving(t, { render: (accept, deadline) => scraper.scrape(accept, deadline) });
  return {
    url: running.url,
    metrics: `${exporter.url}metrics`,
    probeDir,
    counts: async () => {
      const { workers } = await reader.read(probeDir, { timeoutMs: PATIENT_MS });
      const [manager] = toManagerSamples(workers);
      if (manager === undefined) throw new Error('the probe tells of no manager');
      return manager;
    },
  };
}
