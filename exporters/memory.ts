/**
 * Collector of what the kernel says of each worker's own process: from /proc where that process is to be seen there,
 * else from the kernel's text that the probe passes on unread.
 */
import * as metrics from '../src/metrics/catalogue.ts';
import { ownerOf, readProcessAlone, type ProcessReading } from '../src/observe/process.ts';
import { parseLimit, parseResidentBytes, parseStat } from '../src/observe/procfs.ts';
import type { Outcome, ProbeReader } from '../src/observe/sessions.ts';
import type { ProcessMessage } from '../src/observe/snapshot.ts';
import type { Failure, Read } from './collected.ts';
import type { WorkerLabels } from './sessions.ts';
import type { Sheet } from './sheet.ts';
import { mayHaveMade, type Worker } from './workers.ts';

export interface MemoryReading {
  readonly worker: Worker;
  readonly pid: number;
  /** `rssBytes` is always there. */
  readonly process: ProcessReading;
}

/**
 * Which of our processes are the workers. A number alone does not tell: a server in another container has numbers of
 * its own. Start times compared once do.
 */
export class MemoryCollector {
  /** By the probe's path: the start of our process with its number, and whether that is the worker. */
  readonly #identities = new Map<string, { startTicks: number; isWorker: boolean }>();

  /** Forgets workers that are gone. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#identities.keys()) if (!paths.has(path)) this.#identities.delete(path);
  }

  async read(worker: Worker, reader: ProbeReader, timeoutMs: number): Promise<Read<MemoryReading>> {
    const { probe, pid } = worker;
    const here = pid === null ? null : readProcessAlone(pid);
    let isWorker = here === null ? false : this.#known(probe.path, here);
    if (here !== null && pid !== null && isWorker === true && here.fds !== null)
      return { worker, pid, process: here };
    const outcome = await reader.processMessageOf(probe, { timeoutMs });
    const told = outcome !== null && 'value' in outcome ? fromMessage(outcome.value) : null;
    if (here !== null && isWorker === null) isWorker = this.#learn(worker, here, told);
    if (here !== null && pid !== null && isWorker === true)
      return { worker, pid, process: { ...here, fds: here.fds ?? told?.fds ?? null } };
    if (told !== null) return { worker, pid: told.pid, process: told };
    return whyNot(worker, outcome);
  }

  /** Whether our process is the worker; null: not known yet. */
  #known(path: string, { startTicks }: ProcessReading): boolean | null {
    if (startTicks === null) return true; // No /proc, so no containers: numbers are the machine's.
    const identity = this.#identities.get(path);
    return identity?.startTicks === startTicks ? identity.isWorker : null;
  }

  #learn({ probe, pid, file }: Worker, here: ProcessReading, told: ProcessReading | null): boolean {
    if (here.startTicks === null || pid === null) return true;
    if (told?.startTicks == null) {
      // The probe is silent. A process that could have made its file is taken for the one that did, unless it is
      // this very process, which everything in its own container would resemble.
      if (file === null) return true; // The operator named the process.
      return pid !== process.pid && mayHaveMade(pid, file.madeAtMs) && ownerOf(pid) === file.uid;
    }
    const isWorker = told.startTicks === here.startTicks;
    this.#identities.set(probe.path, { startTicks: here.startTicks, isWorker });
    return isWorker;
  }
}

/** The kernel's text about the worker, as its probe passed it on. Null where it holds no resident memory. */
function fromMessage({
  pid,
  files,
  entries,
}: ProcessMessage): (ProcessReading & { readonly pid: number }) | null {
  const rssBytes = parseResidentBytes(files['/proc/self/status'] ?? '');
  if (rssBytes === null) return null;
  const limits = Object.entries(files)
    .filter(([path]) => path.endsWith('/memory.max') || path.endsWith('/memory.limit_in_bytes'))
    .map(([, text]) => parseLimit(text ?? ''))
    .filter((limit) => limit !== null);
  return {
    pid,
    rssBytes,
    fds: entries['/proc/self/fd'] ?? null,
    children: null,
    limitBytes: limits.length === 0 ? null : Math.min(...limits),
    startTicks: parseStat(files['/proc/self/stat'] ?? '')?.startTicks ?? null,
  };
}

function whyNot({ probe }: Worker, outcome: Outcome<ProcessMessage>): Failure | null {
  if (outcome === null) return null;
  const reason =
    'value' in outcome
      ? "The probe passes on no /proc/self/status, and the worker's process is not to be seen here."
      : `The worker's process is not to be seen here, and its probe does not tell of it: ${outcome.reason}`;
  return { worker: probe.worker, reason };
}

export function renderMemory(
  sheet: Sheet,
  labels: WorkerLabels,
  extra: Readonly<Record<string, string>>,
  { rssBytes, fds, children, limitBytes }: ProcessReading,
): void {
  sheet.add(metrics.serverResidentMemory, labels, rssBytes, extra);
  sheet.add(metrics.serverMemoryLimit, labels, limitBytes, extra);
  sheet.add(metrics.serverOpenFds, labels, fds, extra);
  sheet.add(metrics.serverChildProcesses, labels, children, extra);
}
