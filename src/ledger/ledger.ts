/**
 * The ledger: what the client side did and was told, folded into how many sessions may be registered now.
 *
 * Each session contributes an interval of its own, {0,0}, {0,1} or {1,1}; their sum is `expected`. It is wider
 * than a point only by what is uncertain: an answer that has not arrived, a connection that broke before it,
 * a server's discarding that follows its response, an expiry that is due within its slack.
 */
import type { OpRecord } from '../recording/schema.ts';
import { Timers, type Timed } from './timers.ts';

export interface Interval {
  readonly min: number;
  readonly max: number;
}

export interface LedgerPolicy {
  /** Seconds of idleness after which a session must be let go; Infinity where there is no bound. */
  readonly idleSeconds: number;
  /** How late an expiry may be, in milliseconds. */
  readonly slackMs: number;
  /** How long discarding may lag behind the response, in milliseconds (about 50 were measured). */
  readonly lagMs: number;
}

export { DEFAULT_IDLE_MAX_SECONDS, DEFAULT_LAG_MS, DEFAULT_SLACK_MS } from './policy.ts';

/** Servers' timers count in whole milliseconds of a clock that is read now and then: they may be early by this much. */
const GRAIN_MS = 5;

export interface LedgerCounts {
  readonly opened: number;
  readonly deleted: number;
  readonly abandoned: number;
  readonly refused: number;
  readonly uncertain: number;
}

type Op = Pick<OpRecord, 'session' | 'step' | 'outcome' | 'status' | 'sid'>;

interface Entry extends Timed {
  lo: 0 | 1;
  hi: 0 | 1;
  /** Requests and streams in flight; a session with any is not idle. */
  busy: number;
  ended: boolean;
  /** Its opening was answered without an id: there is nothing to register but for the time of a request. */
  sessionless: boolean;
  abandoned: boolean;
  /** `lo` before the DELETE in flight, null while there is none. Meanwhile no other answer proves that it lives. */
  beforeDelete: 0 | 1 | null;
  /** The server counts idleness from here at the earliest. */
  activeAt: number;
  /** When its opening was sent, and when it was answered: Infinity while it is not. */
  openedFrom: number;
  openedBy: number;
  /** The doubt that its last proof of life came after. */
  epoch: number;
}

/** Steps that send nothing of their own, or use an id that has no session by right. */
const WITHOUT_EFFECT = new Set(['hold', 'wait', 'resume', 'reuse', 'reuse-echoed']);

export class Ledger {
  readonly #policy: LedgerPolicy;
  readonly #entries = new Map<string, Entry>();
  /** Forgotten by name, and still counted. */
  readonly #left = new Set<Entry>();
  /** Forgotten altogether, but for their number. */
  #settled = { min: 0, max: 0, openedBy: -Infinity };
  readonly #timers = new Timers<Entry>();
  readonly #counts = { opened: 0, deleted: 0, abandoned: 0, refused: 0, uncertain: 0 };
  #min = 0;
  #max = 0;
  /** While the target may have restarted: since when, and what has answered since then. */
  #doubt: { readonly since: number; min: number } | null = null;
  #epoch = 0;

  constructor(policy: LedgerPolicy) {
    this.#policy = policy;
  }

  get counts(): LedgerCounts {
    return { ...this.#counts };
  }

  /** Sessions and timers that are kept in memory. */
  get held(): number {
    return this.#entries.size + this.#left.size + this.#timers.size;
  }

  /** How many sessions may be registered at time `t` (ms). Times must not go backwards over all calls. */
  expectedAt(t: number): Interval {
    this.#advance(t);
    return { min: this.#doubt?.min ?? this.#min, max: this.#max };
  }

  /** A step began at `t`. */
  begin(op: Pick<Op, 'session' | 'step'>, t: number): void {
    if (WITHOUT_EFFECT.has(op.step) || op.step === 'drop' || op.step === 'stream-end') return;
    this.#advance(t);
    const entry = this.#entry(op.session);
    if (isOpening(op)) {
      this.#set(entry, 0, 1);
      entry.openedFrom = t;
      entry.openedBy = Infinity;
    } else if (op.step === 'delete') {
      entry.beforeDelete = entry.lo;
      this.#set(entry, 0, entry.hi);
    }
    if (entry.sessionless) this.#set(entry, 0, 1);
    entry.busy++;
    this.#timers.cancel(entry);
  }

  /** The step that began at `startedAt` ended at `t`. */
  end(op: Op, startedAt: number, t: number): void {
    if (WITHOUT_EFFECT.has(op.step)) return;
    this.#advance(t);
    if (op.step === 'drop' || op.step === 'stream-end') {
      // They send nothing: of a session that was forgotten they tell nothing new.
      const known = this.#entries.get(op.session);
      if (known === undefined) return;
      if (op.step === 'drop') {
        this.#drop(known);
        return;
      }
    }
    const entry = this.#entry(op.session);
    if (op.outcome === 'ok') this.#prove(entry, startedAt);
    // A stream that opened stays in flight until its stream-end.
    if (!(op.step === 'stream' && op.outcome === 'ok')) entry.busy = Math.max(0, entry.busy - 1);
    if (isOpening(op)) this.#opened(entry, op, t);
    else if (entry.sessionless) {
      if (entry.busy === 0) this.#gone(entry, t);
    } else if (op.step === 'delete') this.#deleted(entry, op, t);
    else if (op.outcome === 'ok' && !entry.ended && entry.beforeDelete === null) this.#set(entry, 1, 1);
    else if (op.status === 404 && entry.lo === 0) this.#gone(entry, t);
    if (op.outcome === 'refused' && isOpening(op)) this.#gone(entry, t);
    // What was not answered may not have reached the server: then it has been idle for longer.
    if (op.outcome === 'ok' || op.outcome === 'refused' || op.step === 'stream-end')
      entry.activeAt = Math.max(startedAt, t - this.#policy.lagMs);
    if (entry.busy === 0 && !entry.ended) this.#idle(entry, t);
  }

  /** Nothing more will be told of this session: it is forgotten by name, and counted for as long as it must be. */
  forget(session: string): void {
    const entry = this.#entries.get(session);
    if (entry === undefined) return;
    this.#entries.delete(session);
    if (entry.hi === 1) this.#left.add(entry);
  }

  /**
   * No restart that is still to be told of happened before `t`. Of forgotten sessions opened before it, those that
   * nothing but a restart can end are from now on a mere number.
   */
  settle(t: number): void {
    // With an idle timeout, each of them has a timer that ends it.
    if (Number.isFinite(this.#policy.idleSeconds)) return;
    for (const entry of this.#left) {
      if (entry.armed > 0 || entry.openedBy > t) continue;
      this.#left.delete(entry);
      this.#settled.min += entry.lo;
      this.#settled.max += entry.hi;
      this.#settled.openedBy = Math.max(this.#settled.openedBy, entry.openedBy);
    }
  }

  /** The target's process has ended: whatever it held is gone. */
  reset(): void {
    this.restarted(Infinity, Infinity);
  }

  /**
   * The target may have restarted: until `trust` or `restarted`, only what answers a request begun after `t` is sure
   * to be registered.
   */
  doubt(t: number): void {
    this.#doubt = { since: t, min: 0 };
    this.#epoch++;
  }

  /** It has not restarted. */
  trust(): void {
    this.#doubt = null;
  }

  /**
   * It has restarted: what had answered its opening by `goneBy` is gone, what was opened from `keptFrom` on is
   * there, and what lies between is uncertain.
   */
  restarted(goneBy: number, keptFrom: number): void {
    this.trust();
    for (const entry of [...this.#entries.values(), ...this.#left]) {
      if (entry.openedBy <= goneBy) this.#lose(entry);
      else if (entry.openedFrom < keptFrom) {
        this.#set(entry, 0, entry.hi);
        if (entry.beforeDelete !== null) entry.beforeDelete = 0;
      }
    }
    const settled = this.#settled;
    const gone = settled.openedBy <= goneBy;
    this.#min -= settled.min;
    if (gone) this.#max -= settled.max;
    this.#settled = gone ? { min: 0, max: 0, openedBy: -Infinity } : { ...settled, min: 0 };
  }

  #lose(entry: Entry): void {
    this.#set(entry, 0, 0);
    entry.ended = true;
    this.#timers.cancel(entry);
  }

  #prove(entry: Entry, startedAt: number): void {
    if (this.#doubt === null || startedAt < this.#doubt.since || entry.epoch === this.#epoch) return;
    entry.epoch = this.#epoch;
    this.#doubt.min += entry.lo;
  }

  #opened(entry: Entry, op: Op, t: number): void {
    entry.openedBy = t;
    if (op.outcome === 'ok') {
      if (op.sid !== true) {
        // A server without sessions answers without an id.
        entry.sessionless = true;
        this.#gone(entry, t);
        return;
      }
      // One that ended meanwhile is not registered.
      const registered = entry.ended ? 0 : 1;
      this.#set(entry, registered, registered);
      this.#counts.opened++;
    } else if (op.outcome === 'refused') this.#counts.refused++;
    else if (op.outcome === 'local') this.#set(entry, 0, 0);
    else this.#counts.uncertain++;
  }

  #deleted(entry: Entry, op: Op, t: number): void {
    const before = entry.beforeDelete ?? entry.lo;
    entry.beforeDelete = null;
    if (op.outcome === 'ok' || op.status === 404) {
      this.#counts.deleted++;
      this.#gone(entry, t);
    } else if (op.status === 405 || op.outcome === 'local') this.#set(entry, before, entry.hi);
    else if (op.outcome === 'broken') this.#counts.uncertain++;
  }

  #drop(entry: Entry): void {
    if (entry.ended || entry.abandoned || entry.hi === 0) return;
    entry.abandoned = true;
    this.#counts.abandoned++;
  }

  /** It ended now; the registry may follow within the lag. */
  #gone(entry: Entry, t: number): void {
    this.#set(entry, 0, entry.hi);
    entry.ended = true;
    this.#timers.cancel(entry);
    this.#timers.arm(entry, 'hi', t + this.#policy.lagMs);
  }

  /** The server counts idleness from when it had answered: after the request began, and at most a lag ago. */
  #idle(entry: Entry, t: number): void {
    this.#timers.cancel(entry);
    const { idleSeconds, slackMs } = this.#policy;
    if (!Number.isFinite(idleSeconds)) return;
    this.#timers.arm(entry, 'lo', entry.activeAt + idleSeconds * 1000 - GRAIN_MS);
    this.#timers.arm(entry, 'hi', t + idleSeconds * 1000 + slackMs);
  }

  #advance(t: number): void {
    for (let timer = this.#timers.due(t); timer; timer = this.#timers.due(t))
      this.#set(timer.entry, 0, timer.bound === 'hi' ? 0 : timer.entry.hi);
  }

  #set(entry: Entry, lo: 0 | 1, hi: 0 | 1): void {
    this.#min += lo - entry.lo;
    this.#max += hi - entry.hi;
    if (this.#doubt !== null && entry.epoch === this.#epoch) this.#doubt.min += lo - entry.lo;
    if (hi === 0) this.#left.delete(entry);
    entry.lo = lo;
    entry.hi = hi;
  }

  #entry(session: string): Entry {
    let entry = this.#entries.get(session);
    if (!entry) this.#entries.set(session, (entry = newEntry()));
    return entry;
  }
}

const isOpening = ({ step }: Pick<Op, 'step'>): boolean => step === 'open' || step === 'refuse';

const newEntry = (): Entry => ({
  lo: 0,
  hi: 0,
  busy: 0,
  version: 0,
  armed: 0,
  ended: false,
  sessionless: false,
  abandoned: false,
  beforeDelete: null,
  activeAt: 0,
  openedFrom: Infinity,
  openedBy: Infinity,
  epoch: -1,
});
