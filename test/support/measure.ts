/** Measures a target as the command line does, and gives the report. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CASES } from '../../src/cases/index.ts';
import { parseConfig } from '../../src/config/load.ts';
import { silentLogger } from '../../src/log.ts';
import { readRecording, type Recording } from '../../src/recording/reader.ts';
import { run } from '../../src/run/run.ts';
import { resolveTarget } from '../../src/targets/resolve.ts';
import { verdict } from '../../src/verdict/verdict.ts';
import type { Report } from '../../src/verdict/schema.ts';

export interface MeasureOptions {
  /** Case ids; default: all. */
  readonly cases?: readonly string[];
  readonly sessions?: number;
  readonly concurrency?: number;
  readonly requireProbe?: boolean;
  readonly signal?: AbortSignal;
  /** Folder of the probe of a server that runs already. */
  readonly probeDir?: string;
  /** Text of mcp-retention.yaml. */
  readonly config?: string;
}

export interface Measured {
  readonly report: Report;
  readonly recording: Recording;
}

export async function measure(target: string, options: MeasureOptions = {}): Promise<Measured> {
  const out = mkdtempSync(join(tmpdir(), 'mcpr-test-'));
  try {
    const config = parseConfig(options.config ?? 'version: 1', 'test.yaml');
    const path = await run({
      builds: [
        resolveTarget(target, {
          config,
          allowHosts: [],
          headers: {},
          ...(options.probeDir !== undefined && { probeDir: options.probeDir }),
        }),
      ],
      cases: CASES.filter((definition) => options.cases?.includes(definition.id) ?? true),
      size: {
        ...(options.sessions !== undefined && { sessions: options.sessions }),
        ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
      },
      seed: 1,
      out: join(out, 'run'),
      policy: {
        idleMaxSeconds: config.policy.idleMax ?? null,
        maxSessions: config.policy.maxSessions ?? null,
      },
      probeDir: options.probeDir ?? null,
      requireProbe: options.requireProbe ?? false,
      command: 'test',
      signal: options.signal ?? new AbortController().signal,
      onProgress: () => undefined,
      log: silentLogger(),
    });
    const recording = await readRecording(path);
    return { recording, report: verdict(recording) };
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** Status of every claim of a report, by `claim` or `claim (case)` for those of every case. */
export function statuses(report: Report): Map<string, string> {
  const found = new Map<string, string>();
  for (const played of report.builds.flatMap((build) => build.cases))
    for (const claim of played.claims) {
      const own = claim.id.startsWith(`${played.id}.`);
      found.set(
        own ? claim.id : `${claim.id} (${played.id})`,
        claim.promised ? claim.status : 'not promised',
      );
    }
  return found;
}

const SUSPECT = new URL('../fixtures/servers/suspect.ts', import.meta.url).pathname;

const TSX = import.meta.resolve('tsx');

/** Configuration with the suspect as target `suspect`, guilty of one fault or of none. */
export const suspectConfig = (fault: string | null, probe: 'self' | 'none' = 'self'): string =>
  suspectsConfig({ suspect: fault }, {}, {}, probe);

/** Configuration with a suspect for each name, guilty of a fault or of none, and what else is given. */
export function suspectsConfig(
  faults: Readonly<Record<string, string | null>>,
  more: object = {},
  targets: object = {},
  probe: 'self' | 'none' = 'self',
): string {
  const suspects = Object.entries(faults).map(
    ([name, fault]) => [name, suspectTarget(fault, probe)] as const,
  );
  return JSON.stringify({ version: 1, ...more, targets: { ...Object.fromEntries(suspects), ...targets } });
}

export const suspectTarget = (fault: string | null, probe: 'self' | 'none' = 'self') => ({
  command: process.execPath,
  args: ['--import', TSX, SUSPECT, '--port', '{port}', ...(fault === null ? [] : ['--fault', fault])],
  url: 'http://127.0.0.1:{port}/mcp',
  readiness: { url: 'http://127.0.0.1:{port}/healthz' },
  probe,
  settings: {
    idleTimeout: { env: 'SUSPECT_IDLE_TIMEOUT' },
    maxSessions: { env: 'SUSPECT_MAX_SESSIONS' },
  },
});
