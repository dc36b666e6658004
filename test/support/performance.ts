/** Compares the speed of two builds as a run does, without cases. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '../../src/config/load.ts';
import { silentLogger } from '../../src/log.ts';
import { readRecording } from '../../src/recording/reader.ts';
import type { BlockRecord } from '../../src/recording/schema.ts';
import { measurePerformance } from '../../src/run/performance.ts';
import { run } from '../../src/run/run.ts';
import { resolveTarget } from '../../src/targets/resolve.ts';
import type { Build } from '../../src/targets/target.ts';
import { performanceOf } from '../../src/verdict/performance.ts';
import type { PerformanceReport } from '../../src/verdict/schema.ts';

export const BASELINE = 'baseline';
export const CANDIDATE = 'candidate';

export interface PerformanceOptions {
  /** Both targets as mcp-retention.yaml names them. */
  readonly targets: { readonly baseline: object; readonly candidate: object };
  readonly budgetSeconds: number;
  readonly sliceMs?: number;
  readonly signal?: AbortSignal;
  /** What is run in place of a target. */
  readonly wrap?: (build: Build) => Build;
}

export interface Performed {
  readonly blocks: readonly BlockRecord[];
  readonly report: PerformanceReport;
  readonly end: string | undefined;
}

export async function performed(options: PerformanceOptions): Promise<Performed> {
  const out = mkdtempSync(join(tmpdir(), 'mcpr-performance-'));
  const config = parseConfig(JSON.stringify({ version: 1, targets: options.targets }), 'performance.yaml');
  const settings = { budgetSeconds: options.budgetSeconds, smallestEffect: 0.1, decides: true };
  const builds = [BASELINE, CANDIDATE].map((name) =>
    resolveTarget(name, { config, allowHosts: [], headers: {} }),
  );
  try {
    const path = await run({
      builds: options.wrap ? builds.map(options.wrap) : builds,
      cases: [],
      size: {},
      seed: 1,
      out: join(out, 'run'),
      policy: { idleMaxSeconds: null, maxSessions: null },
      probeDir: null,
      requireProbe: false,
      command: 'performance',
      signal: options.signal ?? new AbortController().signal,
      onProgress: () => undefined,
      log: silentLogger(),
      after: (played) => measurePerformance(played, settings, options.sliceMs),
    });
    const { blocks, end } = await readRecording(path);
    return { blocks, report: performanceOf(blocks, settings, BASELINE, CANDIDATE), end: end?.reason };
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

export function measureIn(report: PerformanceReport, id: string): PerformanceReport['measures'][number] {
  const found = report.measures.find((one) => one.id === id);
  if (!found) throw new Error(`no measure ${id}`);
  return found;
}
