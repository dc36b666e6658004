/**
 * The ledger: what the client side did and was told, folded into how many sessions may be registered now.
 *
 * Each session contributes an interval of its own, {0,0}, {0,1} or {1,1}; their sum is `expected`. It is wider
 * than a point only by what is uncertain: an answer that has not arrived, a connection that broke before it,
 * a server's discarding that follows its response, an expiry that is due within its slack.
 */
import TinyQueue from 'tinyqueue';
import type { OpRecord } from '../recording/schema.ts';

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

export const DEFAULT_SLACK_MS = 2000;
export const DEFAULT_LAG_MS = 300;

export interface LedgerCounts {
  readonly opened: number;
  readonly deleted: number;
  readonly abandoned: number;
  readonly refused: number;
  readonly uncertain: number;
}

type Op = Pick<OpRecord, 'session' | 'step' | 'outcome' | 'status' | 'sid'>;

interface Entry {
  lo: 0 | 1;
  hi: 0 | 1;
  /** Requests and streams in flight; a session with any is not idle. */
  busy: number;
  /** Timers of an older version are void. */
  version: number;
  ended: boolean;
  abandoned: boolean;
  /** `lo` before the DELETE in flight, null while there is none. Meanwhile no other answer proves that it lives. */
  beforeDelete: 0 | 1 | null;
  /** The server counts idleness from here at the earliest. */
  activeAt: number;
}

interface Timer {
  readonly at: number;
  readonly entry: Entry;
  readonly version: number;
  readonly bound: 'lo' | 'hi';
}

/** Steps that send nothing of their own, or use an id that has no session by right. */
const WITHOUT_EFFECT = new Set(['hold', 'wait', 'resume', 'reuse', 'reuse-echoed']);

export class Ledger {
  readonly #policy: LedgerPolicy;
  readonly #entries = new Map<string, Entry>();
  readonly #timers = new TinyQueue<Timer>([], (a, b) => a.at - b.at);
  readonly #counts = { opened: 0, deleted: 0, abandoned: 0, refused: 0, uncertain: 0 };
  #min = 0;
  #max = 0;

  constructor(policy: LedgerPolicy) {
    this.#policy = policy;
  }

  get counts(): LedgerCounts {
    return { ...this.#counts };
  }

  /** How many sessions may be registered at time `t` (ms). Times must not go backwards over all calls. */
  expectedAt(t: number): Interval {
    this.#advance(t);
    return { min: this.#min, max: this.#max };
  }

  /** A step began at `t`. */
  begin(op: Pick<Op, 'session' | 'step'>, t: number): void {
    if (WITHOUT_EFFECT.has(op.step) || op.step === 'drop' || op.step === 'stream-end') return;
    this.#advance(t);
    const entry = this.#entry(op.session);
    if (op.step === 'open' || op.step === 'refuse') this.#set(entry, 0, 1);
    else if (op.step === 'delete') {
      entry.beforeDelete = entry.lo;
      this.#set(entry, 0, entry.hi);
    }
    entry.busy++;
    entry.version++;
  }

  /** The step that began at `startedAt` ended at `t`. */
  end(op: Op, startedAt: number, t: number): void {
    if (WITHOUT_EFFECT.has(op.step)) return;
    this.#advance(t);
    const entry = this.#entry(op.session);
    if (op.step === 'drop') {
      this.#drop(entry);
      return;
    }
    // A stream that opened stays in flight until its stream-end.
    if (!(op.step === 'stream' && op.outcome === 'ok')) entry.busy = Math.max(0, entry.busy - 1);
    if (op.step === 'open' || op.step === 'refuse') this.#opened(entry, op);
    else if (op.step === 'delete') this.#deleted(entry, op, t);
    else if (op.outcome === 'ok' && !entry.ended && entry.beforeDelete === null) this.#set(entry, 1, 1);
    else if (op.status === 404 && entry.lo === 0) this.#gone(entry, t);
    if (op.outcome === 'refused' && (op.step === 'open' || op.step === 'refuse')) this.#gone(entry, t);
    // What was not answered may not have reached the server: then it has been idle for longer.
    if (op.outcome === 'ok' || op.outcome === 'refused' || op.step === 'stream-end')
      entry.activeAt = Math.max(startedAt, t - this.#policy.lagMs);
    if (entry.busy === 0 && !entry.ended) this.#idle(entry, t);
  }

  /** The target's process has ended: whatever it held is gone. */
  reset(): void {
    for (const entry of this.#entries.values()) {
      this.#set(entry, 0, 0);
      entry.ended = true;
      entry.version++;
    }
  }

  #opened(entry: Entry, op: Op): void {
    if (op.outcome === 'ok') {
      // A server without sessions answers without an id: nothing to register.
      const registered = op.sid === true ? 1 : 0;
      this.#set(entry, registered, registered);
      if (registered) this.#counts.opened++;
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
    } else if (op.status === 405) this.#set(entry, 1, 1);
    else if (op.outcome === 'local') this.#set(entry, before, entry.hi);
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
    entry.version++;
    this.#timers.push({ at: t + this.#policy.lagMs, entry, version: entry.version, bound: 'hi' });
  }

  /** The server counts idleness from when it had answered: after the request began, and at most a lag ago. */
  #idle(entry: Entry, t: number): void {
    entry.version++;
    const { idleSeconds, slackMs } = this.#policy;
    if (!Number.isFinite(idleSeconds)) return;
    const timer = { entry, version: entry.version };
    this.#timers.push({ ...timer, at: entry.activeAt + idleSeconds * 1000, bound: 'lo' });
    this.#timers.push({ ...timer, at: t + idleSeconds * 1000 + slackMs, bound: 'hi' });
  }

  #advance(t: number): void {
    for (let next = this.#timers.peek(); next && next.at <= t; next = this.#timers.peek()) {
      this.#timers.pop();
      if (next.version !== next.entry.version) continue;
      this.#set(next.entry, 0, next.bound === 'hi' ? 0 : next.entry.hi);
    }
  }

  #set(entry: Entry, lo: 0 | 1, hi: 0 | 1): void {
    this.#min += lo - entry.lo;
    this.#max += hi - entry.hi;
    entry.lo = lo;
    entry.hi = hi;
  }

  #entry(session: string): Entry {
    let entry = this.#entries.get(session);
    if (!entry) {
      entry = {
        lo: 0,
        hi: 0,
        busy: 0,
        version: 0,
        ended: false,
        abandoned: false,
        beforeDelete: null,
        activeAt: 0,
      };
      this.#entries.set(session, entry);
    }
    return entry;
  }
}
