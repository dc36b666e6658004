/**
 * Reads the probes of a target: every worker's snapshot, in parallel, each within its deadline. A probe that does
 * not answer as the contract says is reported, never thrown; see snapshot.ts for the contract.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import type { ManagerSample } from '../recording/schema.ts';
import { ProbeClient, ProbeError } from './probe-client.ts';
import { placeOf, probeFiles, type FixedProbe, type ProbeFile } from './probe-files.ts';
import { processMessageSchema, snapshotSchema, type ProcessMessage, type Snapshot } from './snapshot.ts';

const DEFAULT_TIMEOUT_MS = 1000;

export interface WorkerSnapshot {
  readonly worker: string;
  readonly snapshot: Snapshot;
}

export interface WorkerError {
  /** The worker's process id; `*` where the directory itself cannot be read. */
  readonly worker: string;
  /** One sentence. */
  readonly reason: string;
}

export interface ProbeReading {
  /** In the order of their process ids. */
  readonly workers: readonly WorkerSnapshot[];
  readonly errors: readonly WorkerError[];
}

export interface ReadOptions {
  /** Milliseconds that each worker may take. Default 1000. */
  readonly timeoutMs?: number;
}

/** One worker's answer, or why there is none, or null for a leftover of a process that has ended. */
export type Outcome<T> = { readonly value: T } | { readonly reason: string } | null;

/** Keeps one connection to each probe between samples. Its methods never throw or reject. */
export class ProbeReader {
  readonly #clients = new Map<string, ProbeClient>();

  /** The probes that a directory names, a socket before an address; none where it cannot be read. */
  async discover(dir: string): Promise<ProbeFile[]> {
    return probeFiles(dir).catch(() => []);
  }

  /** Every worker's snapshot. Files left behind by processes that have ended are passed over. */
  async read(dir: string, options: ReadOptions = {}): Promise<ProbeReading> {
    let files: ProbeFile[];
    try {
      files = await probeFiles(dir);
    } catch (error) {
      return { workers: [], errors: [{ worker: '*', reason: (error as ProbeError).message }] };
    }
    this.#forget(dir, files);
    const outcomes = await Promise.all(
      files.map(async (file) => ({
        file,
        outcome: await this.snapshotOf(file, options),
      })),
    );
    const workers: WorkerSnapshot[] = [];
    const errors: WorkerError[] = [];
    for (const { file, outcome } of outcomes) {
      if (outcome === null) continue;
      if ('value' in outcome) workers.push({ worker: file.worker, snapshot: outcome.value });
      else errors.push({ worker: file.worker, reason: outcome.reason });
    }
    return { workers, errors };
  }

  /** What a worker passes on of the kernel's text about itself; null where there is no such worker or answer. */
  async readProcessMessage(
    dir: string,
    worker: string,
    options: ReadOptions = {},
  ): Promise<ProcessMessage | null> {
    const file = (await this.discover(dir)).find((found) => found.worker === worker);
    if (file === undefined) return null;
    const outcome = await this.processMessageOf(file, options);
    return outcome !== null && 'value' in outcome ? outcome.value : null;
  }

  /** One worker's snapshot. */
  snapshotOf(probe: ProbeFile | FixedProbe, options: ReadOptions = {}): Promise<Outcome<Snapshot>> {
    return this.#ask(probe, '/v1/snapshot', snapshotSchema, options);
  }

  /** What one worker passes on of the kernel's text about itself. */
  processMessageOf(
    probe: ProbeFile | FixedProbe,
    options: ReadOptions = {},
  ): Promise<Outcome<ProcessMessage>> {
    return this.#ask(probe, '/v1/process', processMessageSchema, options);
  }

  /** Gives up the connections to probes that are not among these. */
  keepOnly(probes: readonly (ProbeFile | FixedProbe)[]): void {
    const present = new Set(probes.map(({ path }) => path));
    for (const path of this.#clients.keys()) if (!present.has(path)) void this.#drop(path);
  }

  /** Closes every connection; the reader can be used again. */
  async close(): Promise<void> {
    await Promise.all([...this.#clients.keys()].map((path) => this.#drop(path)));
  }

  async #ask<T extends { pid: number }>(
    file: ProbeFile | FixedProbe,
    path: string,
    schema: z.ZodType<T>,
    { timeoutMs = DEFAULT_TIMEOUT_MS }: ReadOptions,
  ): Promise<Outcome<T>> {
    try {
      const client = await this.#clientOf(file);
      return { value: checked(schema, await client.get(path, timeoutMs), file.worker) };
    } catch (error) {
      if (!(error instanceof ProbeError)) return { reason: 'The probe could not be asked.' };
      // A hung connection is not kept, and a worker that comes back may listen elsewhere.
      if (error.failure !== 'wrong') void this.#drop(file.path);
      return error.failure === 'absent' && file.kind !== 'fixed' && !isAlive(Number(file.worker))
        ? null
        : { reason: error.message };
    }
  }

  /** @throws ProbeError */
  async #clientOf(file: ProbeFile | FixedProbe): Promise<ProbeClient> {
    let client = this.#clients.get(file.path);
    if (client === undefined) {
      const place = await placeOf(file);
      // Another read may have connected meanwhile.
      client = this.#clients.get(file.path) ?? new ProbeClient(place);
      this.#clients.set(file.path, client);
    }
    return client;
  }

  async #drop(path: string): Promise<void> {
    const client = this.#clients.get(path);
    this.#clients.delete(path);
    await client?.close();
  }

  #forget(dir: string, files: readonly ProbeFile[]): void {
    if (this.#clients.size === 0) return;
    const present = new Set(files.map(({ path }) => path));
    const prefix = join(dir, '/');
    for (const path of this.#clients.keys()) {
      if (path.startsWith(prefix) && !present.has(path)) void this.#drop(path);
    }
  }
}

/** A manager's counts as the recording keeps them, one entry for each manager of each worker. */
export function toManagerSamples(workers: readonly WorkerSnapshot[]): ManagerSample[] {
  return workers.flatMap(({ worker, snapshot }) =>
    snapshot.managers.map((manager) => ({
      worker,
      manager: manager.manager,
      startedAt: snapshot.processStartTime,
      takenAt: snapshot.takenAt,
      registered: manager.registered,
      registeredAtStart: manager.registeredAtStart,
      registrations: manager.registrations,
      removals: manager.removals,
      expirations: manager.expirations,
      rejections: manager.rejections,
      inFlight: manager.inFlight,
      streamsOpen: manager.streamsOpen,
      remnants: manager.remnants,
      oldestIdleSeconds: manager.oldestIdleSeconds,
      idleTimeoutSeconds: manager.idleTimeoutSeconds,
      sessionLimit: manager.sessionLimit,
      requestsCompleted: manager.requestsCompleted,
      ...(manager.unknown !== undefined && { unknown: manager.unknown }),
    })),
  );
}

/** @throws ProbeError with a sentence in place of the schema's list */
function checked<T extends { pid: number }>(schema: z.ZodType<T>, answer: unknown, worker: string): T {
  const result = schema.safeParse(answer);
  if (!result.success) {
    const issue = result.error.issues[0];
    const where = issue?.path.map(String).join('.') ?? '';
    throw new ProbeError(
      `The probe's answer does not follow the contract${where === '' ? '' : ` at ${where}`}: ${issue?.message ?? 'invalid'}.`,
    );
  }
  if (worker !== '*' && String(result.data.pid) !== worker) {
    throw new ProbeError(`The probe answers for process ${result.data.pid} in place of its own.`, 'absent');
  }
  return result.data;
}

/**
 * A signal that is not allowed (EPERM) still means that there is such a process. Threads have numbers of the same
 * kind: one of ours is no server that lives.
 */
function isAlive(pid: number): boolean {
  if (existsSync(`/proc/self/task/${pid}`)) return pid === process.pid;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
