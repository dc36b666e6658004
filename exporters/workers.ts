/** Finds the workers of a target, and tells them from the files that ended ones have left behind. */
import { stat } from 'node:fs/promises';
import { connect } from 'node:net';
import pLimit from 'p-limit';
import { isAbsent, isExhausted, NO_DESCRIPTORS, ProbeError } from '../src/observe/probe-client.ts';
import { probeFiles, type FixedProbe, type ProbeFile } from '../src/observe/probe-files.ts';
import { startedAt } from '../src/observe/process.ts';
import type { ExporterTarget } from './targets.ts';

/** A worker's probe, and what is known of the worker before it is asked. */
export interface Worker {
  readonly probe: ProbeFile | FixedProbe;
  /** In the probe's own PID namespace, which may not be ours; null: not known. */
  readonly pid: number | null;
  /** The probe's file: when it was made (ms since the epoch) and whose it is. Null for a fixed address. */
  readonly file: { readonly madeAtMs: number; readonly uid: number } | null;
}

/** A probe binds its socket and listens a moment later: until then it refuses like one that is gone. */
const YOUNG_MS = 10_000;
/** Clocks of files and processes differ by this much at most. */
const CLOCK_SLACK_MS = 2_000;
/** Where only a connection tells that somebody listens, that is believed for so long. */
const BELIEVED_MS = 60_000;
/** Descriptors are few. */
const CONNECTIONS_AT_A_TIME = 64;

export class WorkerFinder {
  /** Socket files that will never answer again: path → which file it was. */
  readonly #stale = new Map<string, string>();
  /** Those that somebody was found to listen on, and until when that is believed. */
  readonly #answering = new Map<string, { readonly identity: string; readonly untilMs: number }>();
  readonly #limit = pLimit(CONNECTIONS_AT_A_TIME);

  /** @throws ProbeError where the directory cannot be read */
  async find({ place }: ExporterTarget): Promise<Worker[]> {
    if (place.kind === 'address') {
      const probe: FixedProbe = { worker: '*', kind: 'fixed', path: place.address };
      return [{ probe, pid: place.pid, file: null }];
    }
    const probes = await probeFiles(place.path);
    this.#forget(place.path, probes);
    const workers = await Promise.all(probes.map((probe) => this.#worker(probe)));
    return workers.filter((worker) => worker !== null);
  }

  /** Null for the leftover of a process that has ended. */
  async #worker(probe: ProbeFile): Promise<Worker | null> {
    const file = await stat(probe.path).catch(() => null);
    if (file === null) return null;
    const pid = Number(probe.worker);
    const worker = { probe, pid, file: { madeAtMs: file.mtimeMs, uid: file.uid } };
    if (probe.kind === 'address') return worker;
    const identity = `${file.dev}:${file.ino}:${file.ctimeMs}`;
    if (this.#stale.get(probe.path) === identity) return null;
    if (mayHaveMade(pid, file.mtimeMs) || (file.isSocket() && (await this.#answers(probe.path, identity))))
      return worker;
    if (Date.now() - file.mtimeMs > YOUNG_MS) this.#stale.set(probe.path, identity);
    return null;
  }

  async #answers(path: string, identity: string): Promise<boolean> {
    const known = this.#answering.get(path);
    if (known?.identity === identity && performance.now() < known.untilMs) return true;
    this.#answering.delete(path);
    if (await this.#limit(() => refuses(path))) return false;
    this.#answering.set(path, { identity, untilMs: performance.now() + BELIEVED_MS });
    return true;
  }

  #forget(directory: string, probes: readonly ProbeFile[]): void {
    const present = new Set(probes.map(({ path }) => path));
    for (const known of [this.#stale, this.#answering])
      for (const path of known.keys())
        if (path.startsWith(`${directory}/`) && !present.has(path)) known.delete(path);
  }
}

/** Whether a process with this number lives here that is old enough to have made the file. */
export function mayHaveMade(pid: number, madeAtMs: number): boolean {
  const started = startedAt(pid);
  return started !== null && started <= madeAtMs + CLOCK_SLACK_MS;
}

/** Nobody listens there. @throws ProbeError where nothing can be found out */
function refuses(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error) => {
      if (isExhausted(error)) reject(new ProbeError(NO_DESCRIPTORS));
      else resolve(isAbsent(error));
    });
  });
}
