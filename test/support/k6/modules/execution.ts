/** Stand-in for the module `k6/execution`: who plays is known by the asynchronous context. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Turn {
  /** From 1. */
  readonly vu: number;
  readonly iterationInScenario: number;
  readonly iterationInTest: number;
}

/** The script has ended the test. */
export class Aborted extends Error {}

export const turns = new AsyncLocalStorage<Turn>();
export const counted = { iterationsCompleted: 0 };
export const playing = { executor: '' };

const turn = (): Turn => {
  const current = turns.getStore();
  if (current === undefined) throw new Error('only an iteration knows its turn');
  return current;
};

export default {
  vu: {
    get idInTest(): number {
      return turn().vu;
    },
    get idInInstance(): number {
      return turn().vu;
    },
    get iterationInScenario(): number {
      return turn().iterationInScenario;
    },
  },
  scenario: {
    get executor(): string {
      return playing.executor;
    },
    get iterationInTest(): number {
      return turn().iterationInTest;
    },
  },
  instance: {
    get iterationsCompleted(): number {
      return counted.iterationsCompleted;
    },
  },
  test: {
    options: { executionSegment: null, tags: null, systemTags: ['check', 'status'] },
    abort: (reason: string): never => {
      throw new Aborted(reason);
    },
  },
};
