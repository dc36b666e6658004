/**
 * Starts a program in a process group of its own, waits until it serves, and ends it with everything it started.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, reasonOf } from '../errno.ts';
import { startGuardian, type Guardian } from './guardian.ts';
import { LogReader } from './log.ts';
import { groupIsAlive, signalGroup } from './group.ts';
import { interrupted, TargetError } from './target.ts';

const POLL_MS = 20;
export const READY_DEADLINE_MS = 30_000;

/** Milliseconds that each way of ending gets before the next: stdin closed, SIGTERM, SIGKILL. */
const GRACE_MS = { stdin: 1_000, term: 2_000, kill: 10_000 } as const;

/** What a server of ours says when it serves: no reason for its death. */
const READY_LINE = /^\s*\{.*"event"\s*:\s*"ready"/;

export interface ProgramSpec {
  /** Its name in messages. */
  readonly label: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is added to it. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Appended to; made with mode 0600. */
  readonly logFile: string;
}

/** A program that runs, or has run. */
export class Program {
  readonly label: string;
  readonly pid: number;
  /** Its log from this start on. */
  readonly log: LogReader;
  readonly #child: ChildProcess & { stdin: Writable };
  readonly #guardian: Guardian;
  #fate: { readonly how: string; readonly words: string } | null = null;
  #exited = false;
  #stopped: Promise<void> | null = null;

  constructor(
    label: string,
    child: ChildProcess & { stdin: Writable },
    pid: number,
    log: LogReader,
    guardian: Guardian,
  ) {
    this.label = label;
    this.pid = pid;
    this.log = log;
    this.#child = child;
    this.#guardian = guardian;
    child.once('exit', (code, signal) => this.#ended(code, signal));
  }

  /** It has not exited. */
  alive(): boolean {
    return !this.#exited;
  }

  /** Why it ended by itself, with the end of its log; null while it runs and after stop(). */
  death(when = ''): string | null {
    return this.#fate === null ? null : `${this.label} ${this.#fate.how}${when}. ${this.#fate.words}`;
  }

  /** Closes stdin, then SIGTERM, then SIGKILL to the group; resolves when no process of the group lives. */
  stop(): Promise<void> {
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  /** The line of its log that tells most, as a sentence; the whole is in the log file. */
  lastWords(): string {
    const lines = this.log.tail().filter((line) => line.trim() !== '' && !READY_LINE.test(line));
    // A stack's own lines say less than the error that stands above (Node.js) or below it (Python).
    const telling = lines.findLast((line) =>
      /^\s*(\w*(Error|Exception)\b|error\b|fatal\b|panic\b)/i.test(line),
    );
    const said = telling ?? lines.at(-1);
    return said === undefined ? 'Its log gives no reason.' : `Its log says: ${said.trim().slice(0, 300)}`;
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    this.#exited = true;
    if (this.#stopped !== null) return;
    const how = signal === null ? `ended with exit code ${code ?? 'unknown'}` : `was ended by ${signal}`;
    this.#fate = { how, words: this.lastWords() };
    // What it leaves behind ends now, while its group's number cannot be another's.
    signalGroup(this.pid, 'SIGKILL');
    this.#guardian.release();
  }

  async #end(): Promise<void> {
    this.#child.stdin.end();
    if (!(await this.#gone(GRACE_MS.stdin))) {
      signalGroup(this.pid, 'SIGTERM');
      if (!(await this.#gone(GRACE_MS.term))) {
        signalGroup(this.pid, 'SIGKILL');
        await this.#gone(GRACE_MS.kill);
      }
    }
    this.#guardian.release();
  }

  async #gone(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    while (!this.#exited || groupIsAlive(this.pid)) {
      if (performance.now() > deadline) return false;
      await delay(POLL_MS);
    }
    return true;
  }
}

/**
 * Starts a program: stdin a pipe that stays open, stdout and stderr to the log file.
 * @throws TargetError when it cannot be started.
 */
export async function startProgram(spec: ProgramSpec): Promise<Program> {
  const logFd = openLog(spec);
  const log = new LogReader(spec.logFile, fstatSync(logFd).size);
  const guardian = startGuardian();
  try {
    const child = spawn(spec.command, spec.args, {
      detached: true,
      env: spec.env,
      ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
      // The log is a file, not a pipe: a program that writes much never waits for this tool.
      stdio: ['pipe', logFd, logFd],
    }) as unknown as ChildProcess & { stdin: Writable };
    child.stdin.on('error', () => undefined);
    const pid = child.pid;
    if (pid === undefined) {
      const [error] = (await once(child, 'error')) as [Error];
      throw error;
    }
    guardian.watch(pid);
    return new Program(spec.label, child, pid, log, guardian);
  } catch (error) {
    guardian.release();
    throw new TargetError(`${spec.label} cannot be started: ${obstacle(spec, error)}`);
  } finally {
    closeSync(logFd);
  }
}

function openLog({ label, logFile }: ProgramSpec): number {
  try {
    return openSync(logFile, 'a', 0o600);
  } catch (error) {
    throw new TargetError(
      `${label} cannot be started: its log ${logFile} cannot be written: ${reasonOf(error)}.`,
    );
  }
}

/** The system names the command also where the directory is what it did not find. */
function obstacle({ command, cwd }: ProgramSpec, error: unknown): string {
  if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    return `there is no directory ${cwd}: correct its cwd.`;
  if (codeOf(error) === 'ENOENT')
    return `there is no program ${command}: correct the command, or put it on PATH.`;
  return `${command}: ${reasonOf(error)}: check the command.`;
}

/**
 * Asks `check` until it answers other than null. Where it never does, the program is stopped first.
 * @param check must end by itself within a second or so.
 * @throws TargetError when the program ends, the deadline passes or the signal is aborted.
 */
export async function whenReady<T>(
  program: Program,
  check: () => Promise<T | null>,
  limits: { readonly signal: AbortSignal; readonly deadlineMs?: number },
): Promise<T> {
  const deadlineMs = limits.deadlineMs ?? READY_DEADLINE_MS;
  const deadline = performance.now() + deadlineMs;
  try {
    for (;;) {
      if (limits.signal.aborted) throw interrupted(program.label);
      const ready = await check();
      if (ready !== null) return ready;
      const death = program.death(' before it was ready');
      if (death !== null) throw new TargetError(death);
      if (performance.now() > deadline) {
        throw new TargetError(
          `${program.label} was not ready within ${deadlineMs / 1000} s. ${program.lastWords()}`,
        );
      }
      await delay(POLL_MS, undefined, { signal: limits.signal }).catch(() => undefined);
    }
  } catch (error) {
    await program.stop();
    throw error;
  }
}
