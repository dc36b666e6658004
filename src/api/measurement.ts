/** One measurement of the library: where it is recorded, which probe watches it, and the report. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLast } from '../cleanup.ts';
import { silentLogger } from '../log.ts';
import { watchRegistry } from '../probe/watch.ts';
import { readRecording } from '../recording/reader.ts';
import type { CommonRunOptions } from '../run/run-options.ts';
import { privateDirectory } from '../targets/private.ts';
import { UsageError } from '../targets/target.ts';
import type { Report } from '../verdict/schema.ts';
import { verdict } from '../verdict/verdict.ts';
import type { Checked } from './options.ts';

export interface Measurement {
  readonly report: Report;
  /** The recording's path. */
  readonly recording: string;
  /** Removes what nobody asked to keep. */
  readonly discard: () => void;
  /** Leaves it for people to look at, also after the process. */
  readonly keep: () => void;
}

/**
 * @param play measures, and resolves with the recording's path
 * @throws what `play` throws, and the signal's reason where it was aborted: nothing is left behind then
 */
export async function measurement(
  options: Checked,
  play: (common: CommonRunOptions, probeDir: string | undefined) => Promise<string>,
): Promise<Measurement> {
  const signal = options.signal ?? new AbortController().signal;
  signal.throwIfAborted();
  const folder = folderFor(options);
  const undo: (() => void)[] = [folder.discard];
  try {
    const probeDir = await probeOf(options, undo);
    const recording = await play(commonOf(options, folder.path, probeDir, signal), probeDir);
    signal.throwIfAborted();
    const report = verdict(await readRecording(recording));
    undo.shift();
    return { report, recording, discard: folder.discard, keep: folder.keep };
  } finally {
    for (const one of undo.reverse()) one();
  }
}

function commonOf(
  { sessions, concurrency, policy, allow }: Checked,
  out: string,
  probeDir: string | undefined,
  signal: AbortSignal,
): CommonRunOptions {
  return {
    size: { ...(sessions !== undefined && { sessions }), ...(concurrency !== undefined && { concurrency }) },
    out,
    policy: { idleMaxSeconds: policy.idleMax ?? null, maxSessions: policy.maxSessions ?? null },
    allow,
    probeDir: probeDir ?? null,
    requireProbe: false,
    command: 'mcp-retention as a library',
    signal,
    onProgress: () => undefined,
    log: silentLogger(),
  };
}

function folderFor({ out }: Checked): Pick<Measurement, 'discard' | 'keep'> & { readonly path: string } {
  if (out !== undefined) return { path: out, discard: () => undefined, keep: () => undefined };
  const path = mkdtempSync(join(tmpdir(), 'mcp-retention-'));
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  const forget = atLast(remove);
  return {
    path,
    discard: () => {
      remove();
      forget();
    },
    keep: forget,
  };
}

/** Where the probe answers, if there is one. @param undo receives what ends it */
async function probeOf({ registry, probeDir }: Checked, undo: (() => void)[]): Promise<string | undefined> {
  if (registry === undefined) return probeDir;
  if (probeDir !== undefined)
    throw new UsageError('registry and probeDir both name a probe: give the one that watches this server.');
  const directory = privateDirectory();
  undo.push(() => directory.remove());
  const probe = await watchRegistry(registry, directory.path);
  undo.push(() => probe.close());
  return directory.path;
}
