/**
 * One build in one block of the performance comparison: a process of its own, sessions, slices of calls.
 */
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { play } from '../cases/case.ts';
import { call, hold, initialized, open } from '../cases/steps.ts';
import { HttpTransport } from '../client/http.ts';
import { MAX_BODY } from '../client/reader.ts';
import type { McpSession } from '../client/session.ts';
import { playCalls, type CallSlice } from '../drivers/calls.ts';
import type { ArmContext } from '../drivers/context.ts';
import { deleteSession, playStage } from '../drivers/lifecycle.ts';
import { readProcess } from '../observe/process.ts';
import type { BlockRecord } from '../recording/schema.ts';
import { privateDirectory, type PrivateDirectory } from '../targets/private.ts';
import { TargetError, type PreparedBuild, type RunningTarget } from '../targets/target.ts';
import type { Played } from './run-options.ts';

/** Sessions that calls are made on, a connection each. */
export const CONNECTIONS = 8;
/** Sessions that fill pools and caches before memory is read, and those that memory is read over. */
const WARM_UP_SESSIONS = 20;
const MEASURED_SESSIONS = 100;
/** Fewer say nothing about memory. */
const LEAST_MEASURED = 30;
const OPENINGS_AT_A_TIME = 8;
const REQUEST_TIMEOUT_MS = 10_000;
/** Calls of a slice that are not answered by then are left. */
const SLICE_LIMIT_MS = 15_000;
/** A process that ended is known to have ended within this time. */
const DEATH_NOTICED_MS = 500;
/** A server that leaves so many DELETEs unanswered is asked no more. */
const MOST_UNANSWERED = 3;

const NAME = 'performance';

export class Contender {
  /** Why it cannot be measured; null while it can. */
  failure: string | null = null;
  readonly #build: PreparedBuild;
  readonly #played: Played;
  readonly #logName: string;
  readonly #slices: BlockRecord['slices'] = [];
  #ownDir: PrivateDirectory | null = null;
  #running: RunningTarget | null = null;
  #context: ArmContext | null = null;
  #kibPerSession: number | null = null;

  constructor(build: PreparedBuild, played: Played, role: 'baseline' | 'candidate') {
    this.#build = build;
    this.#played = played;
    this.#logName = `${NAME}-${role}.log`;
  }

  /** Starts it with the build's own settings. */
  async start(): Promise<void> {
    const { options, signal } = this.#played;
    try {
      const running = await this.#build.start({
        settings: {},
        probeDir: options.probeDir ?? (this.#ownDir = privateDirectory()).path,
        logFile: join(options.out, 'logs', this.#logName),
        signal,
      });
      this.#running = running;
      this.#context = this.#contextOf(running);
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      this.failure = error.message;
    }
  }

  /** Opens the sessions and reads what they take in memory. */
  async open(): Promise<void> {
    const context = this.#context;
    const running = this.#running;
    if (!context || !running) return;
    const room = running.settings.maxSessions ?? Infinity;
    await this.#openSome(context, 'warm-up', Math.min(WARM_UP_SESSIONS, room));
    const before = context.sessions.size;
    const rssBefore = memoryOf(running);
    await this.#openSome(context, 'load', Math.min(MEASURED_SESSIONS, room - before));
    const opened = context.sessions.size - before;
    const rssAfter = memoryOf(running);
    if (rssBefore !== null && rssAfter !== null && opened >= LEAST_MEASURED)
      this.#kibPerSession = (rssAfter - rssBefore) / 1024 / opened;
    if (this.#sessions().length < CONNECTIONS)
      await this.#fail(
        `only ${this.#sessions().length} of ${CONNECTIONS} sessions could be opened for calls`,
      );
  }

  /** Makes this many calls; null where none was answered. */
  async calls(amount: number): Promise<CallSlice | null> {
    const context = this.#context;
    if (!context || this.failure !== null) return null;
    const { slice, tooLong } = await playCalls({
      transport: context.transport,
      sessions: this.#sessions(),
      tools: context.tools,
      amount,
      limitMs: SLICE_LIMIT_MS,
      signal: context.signal,
    });
    if (tooLong) await this.#fail(`an answer was longer than ${MAX_BODY / 2 ** 20} MiB`);
    else if (slice.calls === slice.failed || this.#running?.death() !== null)
      await this.#fail(slice.calls === 0 ? 'no call was answered' : 'every call failed');
    return this.failure === null ? slice : null;
  }

  /** The same, and keeps them. @param place of the slice among those of both builds in this block. */
  async record(place: number, amount: number): Promise<void> {
    const slice = await this.calls(amount);
    if (slice) this.#slices.push({ place, ...slice });
  }

  /** Deletes its sessions and stops the process; where that is gone or does not answer, the latter alone. */
  async end(): Promise<void> {
    const running = this.#running;
    const context = this.#context;
    try {
      if (running && context && running.death() === null) await this.#deleteAll(context);
      await context?.transport.close();
    } finally {
      await running?.stop();
      this.#ownDir?.remove();
    }
  }

  block(block: number): Omit<BlockRecord, 't'> {
    const started = this.#running !== null && !this.#build.foreign;
    return {
      type: 'block',
      build: this.#build.record.build,
      block,
      startMs: started ? (this.#running?.startMs ?? null) : null,
      kibPerSession: this.#kibPerSession,
      liveSessions: this.#context?.sessions.size ?? 0,
      slices: this.#slices,
      ...(this.failure !== null && { reason: this.failure }),
    };
  }

  /** The sessions that calls go to: the first ones opened that still stand. */
  #sessions(): McpSession[] {
    const planned = [...(this.#context?.sessions.values() ?? [])];
    return planned.flatMap(({ session }) => (session ? [session] : [])).slice(0, CONNECTIONS);
  }

  async #openSome(context: ArmContext, name: string, sessions: number): Promise<void> {
    const plan = play(name, 'load', Math.max(0, sessions), OPENINGS_AT_A_TIME, (pick) => [
      open(),
      initialized(),
      call(pick.text()),
      hold(),
    ]);
    await playStage(context, plan);
  }

  async #deleteAll(context: ArmContext): Promise<void> {
    const left = [...context.sessions.values()];
    let unanswered = 0;
    const worker = async (): Promise<void> => {
      for (let planned = left.pop(); planned; planned = left.pop()) {
        if (unanswered >= MOST_UNANSWERED) return;
        const answered = context.completed;
        await deleteSession(context, 'clean-up', planned);
        unanswered = context.completed > answered ? 0 : unanswered + 1;
      }
    };
    await Promise.all(Array.from({ length: OPENINGS_AT_A_TIME }, worker));
  }

  /** A process that died is the reason for whatever else was seen. */
  async #fail(seen: string): Promise<void> {
    const until = performance.now() + DEATH_NOTICED_MS;
    const waits = (): boolean => performance.now() < until && !this.#played.signal.aborted;
    while (waits() && this.#running?.death() === null) {
      // Of a server that is not ours this is how its absence is noticed.
      await this.#running.alive();
      await delay(20);
    }
    const death = this.#running?.death() ?? null;
    this.failure = death === null ? seen : `the server died: ${death}`;
  }

  #contextOf(running: RunningTarget): ArmContext {
    const { url, headers, tools } = running;
    setMaxListeners(0, this.#played.signal);
    return {
      arm: NAME,
      seed: this.#played.options.seed,
      transport: new HttpTransport({ url, headers, timeoutMs: REQUEST_TIMEOUT_MS }),
      tools,
      // No plan of this comparison waits.
      idleTimeoutSeconds: 1,
      signal: this.#played.signal,
      sessions: new Map(),
      completed: 0,
      // Its sessions belong to no arm: what they cost stands in the block.
      write: () => undefined,
    };
  }
}

const memoryOf = (running: RunningTarget): number | null =>
  running.pid === null ? null : (readProcess(running.pid)?.rssBytes ?? null);
