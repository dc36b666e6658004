/**
 * Samples the three series of one arm at a steady pace, waits for counts to come to rest, and notices a death.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_SLACK_MS } from '../ledger/ledger.ts';
import { readProcess } from '../observe/process.ts';
import { ProbeReader, toManagerSamples } from '../observe/sessions.ts';
import type { Recorder } from '../recording/writer.ts';
import type { ManagerSample, SampleRecord, Untimed } from '../recording/schema.ts';
import type { KnownSettings, RunningTarget } from '../targets/target.ts';
import type { Logger } from '../log.ts';
import type { OnProgress } from './events.ts';

/** A probe that does not answer within this time is reported as not answering. */
const PROBE_TIMEOUT_MS = 2000;
/** Counts that stayed the same for this long have come to rest: longer than the lag that the ledger allows. */
const REST_MS = 400;
const LONGEST_REST_MS = 3000;

export interface ObserverOptions {
  readonly arm: string;
  readonly build: string;
  readonly case: string;
  readonly running: RunningTarget;
  /** Directory of the probe's sockets, or null where there is no probe. */
  readonly probeDir: string | null;
  readonly recorder: Recorder;
  readonly log: Logger;
  readonly sampleEveryMs: number;
  readonly requests: () => number;
  readonly onProgress: OnProgress;
  /** Called once, with the reason, when the target's process has ended. */
  readonly onDeath: (reason: string) => void;
}

export class Observer {
  readonly #options: ObserverOptions;
  readonly #probe: ProbeReader | null;
  readonly #reported = new Set<string>();
  #stopped = false;
  #dead = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#probe = options.probeDir === null ? null : new ProbeReader();
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop;
    await this.#probe?.close();
  }

  /** Reads all three series once and records them. */
  async sample(settled = false): Promise<SampleRecord['sessions']> {
    const { running, arm, recorder } = this.#options;
    const sessions = await this.#readSessions();
    const memory = readMemory(running);
    const record: Untimed<SampleRecord> = {
      type: 'sample',
      arm,
      ...(settled && { settled }),
      sessions: sessions.read,
      memory,
      requests: this.#options.requests(),
      ...(sessions.reason !== null && { reason: sessions.reason }),
    };
    recorder.write(record);
    this.#tell(record);
    this.#watchDeath();
    return sessions.read;
  }

  /** Waits until the counts have been at rest for a while, then takes the sample that claims are judged by. */
  async settle(signal: AbortSignal): Promise<void> {
    const until = performance.now() + LONGEST_REST_MS;
    let last = '';
    let since = performance.now();
    while (performance.now() < until && !signal.aborted) {
      const counts = fingerprint(await this.sample());
      if (counts !== last) since = performance.now();
      else if (performance.now() - since >= REST_MS) break;
      last = counts;
      await pause(60, signal);
    }
    await this.sample(true);
  }

  /** Waits until at most `floor` sessions are registered, or idle expiry has had its time. */
  async expire(floor: number, idleSeconds: number, signal: AbortSignal): Promise<void> {
    let deadline = performance.now() + idleSeconds * 1000 + DEFAULT_SLACK_MS;
    let fewest = Infinity;
    while (performance.now() < deadline && !signal.aborted) {
      const registered = total(await this.sample());
      // A busy machine expires late but steadily: go on for as long as the registry shrinks.
      if (registered !== null && registered < fewest) {
        fewest = registered;
        deadline = Math.max(deadline, performance.now() + DEFAULT_SLACK_MS);
      }
      if (registered !== null && registered <= floor) break;
      await pause(60, signal);
    }
    await this.settle(signal);
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const began = performance.now();
      await this.sample();
      const left = this.#options.sampleEveryMs - (performance.now() - began);
      await delay(Math.max(5, left));
    }
  }

  async #readSessions(): Promise<{ read: SampleRecord['sessions']; reason: string | null }> {
    const { probeDir } = this.#options;
    if (!this.#probe || probeDir === null) return { read: null, reason: null };
    const { workers, errors } = await this.#probe.read(probeDir, { timeoutMs: PROBE_TIMEOUT_MS });
    const first = errors[0];
    // Counts of some workers are not the server's counts: all, or none.
    if (first || workers.length === 0) {
      const reason = first ? `probe of worker ${first.worker}: ${first.reason}` : 'no probe answers';
      if (!this.#dead) this.#report('probe', `The probe gave no counts: ${reason}`);
      return { read: null, reason };
    }
    for (const { worker, snapshot } of workers)
      for (const problem of snapshot.problems)
        this.#report(
          'probe-problem',
          `The probe in worker ${worker} reports ${problem.where}: ${problem.last}`,
        );
    const supported = workers.every(({ snapshot }) => snapshot.supported);
    return { read: { supported, managers: toManagerSamples(workers) }, reason: null };
  }

  #report(code: string, text: string): void {
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    this.#options.recorder.write({ type: 'notice', arm: this.#options.arm, code, text });
    this.#options.log.warn({ code }, text);
  }

  #tell(record: Untimed<SampleRecord>): void {
    this.#options.onProgress({
      kind: 'sample',
      build: this.#options.build,
      case: this.#options.case,
      registered: total(record.sessions),
      rssBytes: record.memory?.rssBytes ?? null,
      requests: record.requests,
    });
  }

  #watchDeath(): void {
    const reason = this.#dead || this.#stopped ? null : this.#options.running.death();
    if (reason === null) return;
    this.#dead = true;
    this.#options.recorder.write({ type: 'target', arm: this.#options.arm, event: 'died', reason });
    this.#options.onDeath(reason);
  }
}

/** What the probe says of idle timeout and cap, for a target of which we were not told. */
export async function askSettings(probeDir: string): Promise<KnownSettings> {
  const probe = new ProbeReader();
  try {
    const { workers } = await probe.read(probeDir, { timeoutMs: PROBE_TIMEOUT_MS });
    const [manager] = toManagerSamples(workers);
    return manager ? settingsOf(manager) : {};
  } finally {
    await probe.close();
  }
}

function settingsOf(manager: ManagerSample): KnownSettings {
  const untold = (field: string): boolean => manager.unknown?.includes(field) === true;
  const [idle, limit] = [untold('idleTimeoutSeconds'), untold('sessionLimit')];
  return {
    ...(!idle && { idleTimeoutSeconds: manager.idleTimeoutSeconds }),
    ...(!limit && { maxSessions: manager.sessionLimit }),
    ...(idle && limit && { untold: true }),
  };
}

function readMemory(running: RunningTarget): SampleRecord['memory'] {
  const reading = running.pid === null ? null : readProcess(running.pid);
  if (!reading) return null;
  const { rssBytes, fds, children, limitBytes } = reading;
  return { rssBytes, fds, children, limitBytes };
}

/** Registered sessions over all workers and managers; null without counts. */
export function total(sessions: SampleRecord['sessions']): number | null {
  return sessions?.supported ? sessions.managers.reduce((sum, manager) => sum + manager.registered, 0) : null;
}

function fingerprint(sessions: SampleRecord['sessions']): string {
  return JSON.stringify(
    sessions?.managers.map((m) => [m.registered, m.registrations, m.removals, m.inFlight]),
  );
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);
