/** Says what failed, once: a failure that lasts is not told again at every scrape. */
import type { Logger } from '../src/log.ts';
import { succeeded } from './self.ts';
import type { Timed } from './collected.ts';

const NO_WORKER = 'There is no living worker: nothing was read.';

export class FailureLog {
  readonly #log: Logger;
  /** What was said last, by target and collector. */
  readonly #said = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  note(target: string, collector: string, result: Timed<unknown>): void {
    const key = `${collector} ${target}`;
    if (succeeded(result)) {
      if (this.#said.delete(key)) this.#log.info({ target, collector }, 'collected again');
      return;
    }
    const failures = result.failures.length > 0 ? result.failures : [{ worker: '*', reason: NO_WORKER }];
    // Two scrapers with timeouts of their own meet the same failure.
    const text = failures
      .map(({ worker, reason }) => `${worker} ${reason}`)
      .join('\n')
      .replace(/within \d+ ms/g, 'in time');
    if (this.#said.get(key) === text) return;
    this.#said.set(key, text);
    for (const { worker, reason } of failures) this.#log.warn({ target, collector, worker }, reason);
  }
}
