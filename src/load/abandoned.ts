/**
 * Sessions left behind on a server that someone else runs: kept so that they can be deleted at the end, as long as
 * they may be there, and never more than a number of them.
 */
import type { Kind } from '../cases/mixed.ts';
import type { PlannedSession } from '../drivers/context.ts';

/** Beyond these the eldest are let go of: a load may run for days. */
export const MOST_ABANDONED = 10_000;

export interface AbandonedSession {
  readonly kind: Kind;
  readonly planned: PlannedSession;
  /** performance.now() from which the server's own idle timeout must have ended it; Infinity where it has none. */
  readonly goneBy: number;
}

export class Abandoned {
  readonly #sessions = new Set<AbandonedSession>();
  readonly #forget: (session: AbandonedSession) => void;
  /** Let go of although they may still be there. */
  lost = 0;

  /** @param forget told of each that is kept no longer */
  constructor(forget: (session: AbandonedSession) => void) {
    this.#forget = forget;
  }

  get size(): number {
    return this.#sessions.size;
  }

  add(session: AbandonedSession, now: number): void {
    this.#sessions.add(session);
    this.#expire(now);
    const [eldest] = this.#sessions;
    if (eldest === undefined || this.#sessions.size <= MOST_ABANDONED) return;
    this.#remove(eldest);
    this.lost++;
  }

  /** Takes one that may still be there. */
  take(now: number): AbandonedSession | null {
    this.#expire(now);
    const [eldest] = this.#sessions;
    if (eldest !== undefined) this.#sessions.delete(eldest);
    return eldest ?? null;
  }

  #expire(now: number): void {
    for (const session of this.#sessions) {
      if (session.goneBy > now) return;
      this.#remove(session);
    }
  }

  #remove(session: AbandonedSession): void {
    this.#sessions.delete(session);
    this.#forget(session);
  }
}
