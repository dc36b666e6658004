/** Asks the process that judges a recording while the run goes on. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';

export interface LiveQuestion {
  readonly number: number;
  /** The recording's path. */
  readonly path: string;
  readonly what: 'page' | 'data';
  readonly running: boolean;
}

export interface LiveAnswer {
  readonly number: number;
  readonly text?: string;
  /** Why there is none, in one sentence. */
  readonly failure?: string;
}

export interface LiveJudge {
  /** HTML or JSON. @throws Error with one sentence */
  ask(question: Pick<LiveQuestion, 'what' | 'running'>): Promise<string>;
  stop(): Promise<void>;
}

interface Waiting {
  readonly resolve: (text: string) => void;
  readonly reject: (error: Error) => void;
}

/** Lower than what is measured, and than what measures. */
const PRIORITY = 10;

/**
 * Begins its process once it is asked: a page that nobody opens costs nothing.
 * @param path the recording's, which need not be there yet
 */
export function liveJudge(path: string): LiveJudge {
  let judging: Judging | null = null;
  return {
    ask: (question) => (judging ??= begin()).ask({ ...question, path }),
    stop: async () => {
      await judging?.stop();
    },
  };
}

interface Judging {
  ask(question: Omit<LiveQuestion, 'number'>): Promise<string>;
  stop(): Promise<void>;
}

function begin(): Judging {
  // The sources are run as they are, and what is built of them beside each other's output.
  const program = import.meta.url.endsWith('.ts') ? './live-worker.ts' : './live-worker.js';
  const child = fork(new URL(program, import.meta.url), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  child.once('spawn', () => lowerPriority(child.pid));
  child.on('message', ({ number, text, failure }: LiveAnswer) => {
    const who = waiting.get(number);
    waiting.delete(number);
    if (text === undefined) who?.reject(new Error(failure ?? 'no answer'));
    else who?.resolve(text);
  });
  // The latter where it could not be started.
  const ended = Promise.race([once(child, 'close'), once(child, 'error')]).finally(() => {
    for (const who of waiting.values()) who.reject(new Error(GONE));
    waiting.clear();
  });
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        if (!child.connected) throw new Error(GONE);
        asked++;
        waiting.set(asked, { resolve, reject });
        child.send({ ...question, number: asked } satisfies LiveQuestion);
      }),
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

const GONE = 'The process that judges the recording has ended.';

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, PRIORITY);
  } catch {
    // It has ended already, or the system knows no priorities.
  }
}
