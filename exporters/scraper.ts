/** One scrape: all workers of all targets side by side, each read once, rendered together. */
import type { Logger } from '../src/log.ts';
import { ProbeReader } from '../src/observe/sessions.ts';
import { timed, type Timed } from './collected.ts';
import type { Exposition } from './exposition.ts';
import { FailureLog } from './failures.ts';
import { MemoryCollector, renderMemory, type MemoryReading } from './memory.ts';
import { renderSelf } from './self.ts';
import { buildOf } from '../src/observe/snapshot.ts';
import { readSessions, renderSessions, type SessionsReading } from './sessions.ts';
import { Sheet } from './sheet.ts';
import type { ExporterTarget } from './targets.ts';
import { WorkerFinder, type Worker } from './workers.ts';

/** Where neither the probe nor the configuration tells. */
const UNKNOWN_BUILD = 'unknown';
/** More than this scrapes at once are rare: their connections are not kept. */
const READERS_KEPT = 2;

/**
 * The connections of one scrape. Collectors do not share them: a count that hangs must not hold up the memory. Nor do
 * scrapes at one time: one that gives up must not take another's answer with it.
 */
class Readers {
  readonly sessions = new ProbeReader();
  readonly memory = new ProbeReader();

  keepOnly(workers: readonly Worker[]): void {
    const probes = workers.map(({ probe }) => probe);
    for (const reader of [this.sessions, this.memory]) reader.keepOnly(probes);
  }

  async close(): Promise<void> {
    await Promise.all([this.sessions.close(), this.memory.close()]);
  }
}

interface TargetReading {
  readonly target: ExporterTarget;
  readonly workers: readonly Worker[];
  readonly sessions: Timed<SessionsReading>;
  readonly memory: Timed<MemoryReading>;
}

export class Scraper {
  readonly #targets: readonly ExporterTarget[];
  readonly #finder = new WorkerFinder();
  readonly #memory = new MemoryCollector();
  readonly #failures: FailureLog;
  readonly #idle: Readers[] = [];
  /** What a worker's probe said last, so that its memory keeps its label when the probe is silent. */
  readonly #builds = new Map<string, string>();
  #closed = false;

  constructor(targets: readonly ExporterTarget[], log: Logger) {
    this.#targets = targets;
    this.#failures = new FailureLog(log);
  }

  /** Takes at most deadlineMs, and the time to render. */
  async scrape(accept: string, deadlineMs: number): Promise<Exposition> {
    const readers = this.#idle.pop() ?? new Readers();
    const readings = await Promise.all(
      this.#targets.map((target) => this.#read(target, readers, deadlineMs)),
    );
    const workers = readings.flatMap((reading) => reading.workers);
    readers.keepOnly(workers);
    this.#release(readers);
    this.#remember(readings, new Set(workers.map(({ probe }) => probe.path)));
    const sheet = new Sheet();
    for (const reading of readings) this.#render(sheet, reading);
    return sheet.render(accept);
  }

  /** Gives up all connections. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#idle.splice(0).map((readers) => readers.close()));
  }

  #release(readers: Readers): void {
    if (this.#closed || this.#idle.length >= READERS_KEPT) void readers.close();
    else this.#idle.push(readers);
  }

  async #read(target: ExporterTarget, readers: Readers, deadlineMs: number): Promise<TargetReading> {
    const found = this.#finder.find(target);
    let workers: readonly Worker[] = [];
    found.then((all) => (workers = all)).catch(() => undefined); // The collectors say why.
    const [sessions, memory] = await Promise.all([
      timed(deadlineMs, found, (worker, leftMs) => readSessions(worker, readers.sessions, leftMs)),
      timed(deadlineMs, found, (worker, leftMs) => this.#memory.read(worker, readers.memory, leftMs)),
    ]);
    this.#failures.note(target.name, 'sessions', sessions);
    this.#failures.note(target.name, 'memory', memory);
    return { target, workers, sessions, memory };
  }

  #remember(readings: readonly TargetReading[], present: ReadonlySet<string>): void {
    this.#memory.keepOnly(present);
    for (const path of this.#builds.keys()) if (!present.has(path)) this.#builds.delete(path);
    for (const { worker, snapshot } of readings.flatMap(({ sessions }) => sessions.readings)) {
      const build = buildOf(snapshot);
      if (build !== null) this.#builds.set(worker.probe.path, build);
    }
  }

  #render(sheet: Sheet, { target, sessions, memory }: TargetReading): void {
    const labels = ({ probe }: Worker, pid: number) => ({
      target: target.name,
      build: target.build ?? this.#builds.get(probe.path) ?? UNKNOWN_BUILD,
      worker: String(pid),
    });
    for (const { worker, snapshot } of sessions.readings)
      renderSessions(sheet, labels(worker, snapshot.pid), target.labels, snapshot);
    for (const { worker, pid, process } of memory.readings)
      renderMemory(sheet, labels(worker, pid), target.labels, process);
    renderSelf(sheet, target.name, target.labels, { sessions, memory });
  }
}
