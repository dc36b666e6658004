/** One target under load: plays the arrivals that it is given, and closes what is still open at the end. */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Arrival, Kind } from '../cases/mixed.ts';
import type { Step } from '../cases/steps.ts';
import { HttpTransport } from '../client/http.ts';
import type { ArmContext, PlannedSession } from '../drivers/context.ts';
import { deleteSession, playPlan } from '../drivers/lifecycle.ts';
import type { LedgerPolicy } from '../ledger/ledger.ts';
import type { Logger } from '../log.ts';
import type { RunningTarget } from '../targets/target.ts';
import { Abandoned } from './abandoned.ts';
import { Account } from './account.ts';
import type { LateReason, LoadMetrics, TargetLabels } from './metrics.ts';
import type { TargetSummary } from './options.ts';
import { TargetWatch } from './watch.ts';

export const REQUEST_TIMEOUT_MS = 10_000;
const WARN_EVERY_MS = 10_000;
const CLEANERS = 8;
/** So many requests in a row without an answer, and the clean-up is given up: nobody is there. */
const GIVE_UP_AFTER = 10;

export interface TargetOptions {
  readonly running: RunningTarget;
  readonly labels: TargetLabels;
  /** Sessions left behind are deleted at the end: the server is someone else's. */
  readonly foreign: boolean;
  readonly probeDir: string | null;
  readonly policy: LedgerPolicy;
  /** The server's own idle timeout in seconds; null: none, or not known. */
  readonly ownIdleSeconds: number | null;
  readonly seed: number;
  readonly maxInFlight: number;
  readonly metrics: LoadMetrics;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export class TargetLoad {
  readonly account: Account;
  readonly #options: TargetOptions;
  readonly #transport: HttpTransport;
  readonly #watch: TargetWatch;
  readonly #abandoned: Abandoned;
  readonly #gone = new AbortController();
  readonly #signal: AbortSignal;
  readonly #playing = new Set<Promise<void>>();
  #arrivals = 0;
  #death: string | null = null;
  #warnedAt = -Infinity;
  #unwarned = 0;

  constructor(options: TargetOptions) {
    const { running, labels, policy, metrics, foreign, probeDir, log } = options;
    this.#options = options;
    this.#transport = new HttpTransport({
      url: running.url,
      headers: running.headers,
      timeoutMs: REQUEST_TIMEOUT_MS,
    });
    this.account = new Account(policy, labels, metrics, (what) => this.#watch.suspect(what));
    this.#watch = new TargetWatch({
      running,
      foreign,
      probeDir,
      ledgers: [...this.account.ledgers.values()],
      log,
      onDeath: (reason) => this.#died(reason),
    });
    this.#abandoned = new Abandoned(({ kind, planned }) => this.account.forget(kind, planned.key));
    this.#signal = AbortSignal.any([options.signal, this.#gone.signal]);
    // Every session that waits listens to it.
    setMaxListeners(0, this.#signal);
  }

  /** A process that we started has ended: nothing more arrives. */
  get dead(): boolean {
    return this.#death !== null;
  }

  /** Looks at the target for the first time, and from then on every second. */
  async start(): Promise<void> {
    await this.#watch.look();
    this.#watch.start();
  }

  /** @param behind it is due for too long already */
  arrive(arrival: Arrival, behind: boolean): void {
    if (this.dead) return;
    this.#arrivals++;
    const full = this.#playing.size + arrival.plans.length > this.#options.maxInFlight;
    if (behind || full) {
      this.#leaveOut(arrival.kind, behind ? 'behind' : 'full');
      return;
    }
    for (const [i, plan] of arrival.plans.entries()) {
      const name = arrival.plans.length === 1 ? arrival.kind : `${arrival.kind}-${i + 1}`;
      const playing = this.#play(arrival.kind, name, plan, arrival.index).finally(() =>
        this.#playing.delete(playing),
      );
      this.#playing.add(playing);
    }
  }

  /** Waits for the sessions being played, then deletes what is not to be left behind. */
  async finish(): Promise<void> {
    await Promise.all(this.#playing);
    if (!this.dead) await this.#cleanUp();
    // What happened last may have been a restart; and discarding follows the answer.
    await this.#watch.look();
    if (!this.dead) await delay(this.#options.policy.lagMs);
    await this.#watch.stop();
    await this.#transport.close();
  }

  summary(): TargetSummary {
    const { account } = this;
    const left = this.#abandoned.size + this.#abandoned.lost + account.undeleted;
    return {
      target: this.#options.labels.target,
      counts: account.counts(),
      expected: account.expectedAt(performance.now()),
      arrivals: this.#arrivals,
      late: account.late,
      p50: account.percentile(50),
      p99: account.percentile(99),
      leftBehind: this.#options.foreign ? left : 0,
      started: true,
      failure: this.#death,
    };
  }

  async #play(kind: Kind, name: string, plan: readonly Step[], index: number): Promise<void> {
    const context = this.#contextFor(kind);
    await playPlan(context, name, plan, index);
    const kept = [...context.sessions.values()].filter((planned) => this.#keep(kind, planned));
    for (const key of [`${name}:${index}`, ...context.sessions.keys()])
      if (!kept.some((planned) => planned.key === key)) this.account.forget(kind, key);
  }

  /** Keeps a session that was left behind on someone else's server, to delete it at the end. */
  #keep(kind: Kind, planned: PlannedSession): boolean {
    const { foreign, ownIdleSeconds, policy } = this.#options;
    if (!foreign || planned.deleted || planned.id === null) return false;
    const now = performance.now();
    const goneBy = ownIdleSeconds === null ? Infinity : now + ownIdleSeconds * 1000 + policy.slackMs;
    this.#abandoned.add({ kind, planned, goneBy }, now);
    return true;
  }

  #contextFor(kind: Kind): ArmContext {
    const { running, seed, labels } = this.#options;
    return {
      arm: labels.target,
      seed,
      transport: this.#transport,
      tools: running.tools,
      // The plans of the mixed workload count in seconds.
      idleTimeoutSeconds: 1,
      signal: this.#signal,
      sessions: new Map(),
      completed: 0,
      begin: (session, step, at) => this.account.begin(kind, session, step, at),
      write: (record, endedAt) => this.account.end(kind, record, endedAt),
    };
  }

  #died(reason: string): void {
    this.#death = reason;
    this.#options.log.warn({ code: 'died' }, `${this.#options.labels.target} is not restarted: ${reason}`);
    this.#gone.abort();
  }

  #leaveOut(kind: Kind, reason: LateReason): void {
    this.account.leftOut(kind, reason);
    this.#unwarned++;
    const now = performance.now();
    if (now - this.#warnedAt < WARN_EVERY_MS) return;
    const why =
      reason === 'full'
        ? `all ${this.#options.maxInFlight} sessions at a time are being played: the target is slow, or --max-in-flight too small`
        : 'the load side itself is late: this machine has too much to do';
    this.#options.log.warn({ code: 'late', reason }, `${this.#unwarned} arrivals were left out: ${why}`);
    this.#warnedAt = now;
    this.#unwarned = 0;
  }

  async #cleanUp(): Promise<void> {
    this.account.unanswered = 0;
    const clean = async (): Promise<void> => {
      while (this.account.unanswered < GIVE_UP_AFTER) {
        const left = this.#abandoned.take(performance.now());
        if (left === null) return;
        await deleteSession(this.#contextFor(left.kind), 'clean-up', left.planned);
        this.account.forget(left.kind, left.planned.key);
      }
    };
    await Promise.all(Array.from({ length: CLEANERS }, clean));
  }
}
