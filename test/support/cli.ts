/** Runs the command line as a user does: a process of its own. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAIN = new URL('../../src/cli/main.ts', import.meta.url).pathname;
const TSX = import.meta.resolve('tsx');

/** What starts the command line in any working directory. */
export const COMMAND: readonly string[] = [process.execPath, '--import', TSX, MAIN];

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves once stderr has shown the text. */
  saw(text: string): Promise<void>;
}

export function start(
  args: readonly string[],
  options: { cwd: string; command?: readonly string[] },
): Running {
  const [program = '', ...rest] = [...(options.command ?? COMMAND), ...args];
  const child = spawn(program, rest, { cwd: options.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const listener of listeners) listener();
  });
  const finished = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  const saw = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (stderr.includes(text)) resolve();
      };
      listeners.add(look);
      look();
      void finished.then(() => reject(new Error(`ended without ${text}: ${stderr}`)));
    });
  return { child, finished, saw };
}

export const cli = (args: readonly string[], cwd: string): Promise<Finished> => start(args, { cwd }).finished;

/** A working directory of its own for the time of a test. */
export async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mcpr-cli-'));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** It ended with the code and one sentence for people. */
export function oneSentence({ code, stderr }: Finished, wanted: number, sentence: RegExp): void {
  assert.equal(code, wanted, stderr);
  assert.match(stderr, sentence);
  assert.doesNotMatch(stderr, /^\s+at /m, 'no stack');
}
