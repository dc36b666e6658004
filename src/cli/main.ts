#!/usr/bin/env node
/**
 * The command line's entry, and the only place that exits. It loads the rest itself: where that fails, Node.js would
 * exit with 1, which says that a claim failed.
 */
import { writeSync } from 'node:fs';
import { codeOf, isSystemError, reasonOf } from '../errno.ts';
import { plain } from '../report/plain.ts';
import type { ExitCode } from './exit.ts';

const STDERR = 2;
const UNDECIDED: ExitCode = 3;
/** Nobody reads the stream any more: `| head`, a terminal that was closed. */
const READER_GONE = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']);

const interrupt = new AbortController();

/** The first signal ends the run in order; who sends a second one does not want to wait for that. */
function onSignal(): void {
  // What must not stay behind goes at the exit: see cleanup.ts.
  if (interrupt.signal.aborted) process.exit(UNDECIDED);
  process.stderr.write('\nstopping: what was begun is being ended in order (again to stop at once)\n');
  interrupt.abort();
}
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(name, onSignal);

/** Node.js would exit with 1, which says that a claim failed. */
function stopWith(text: string): void {
  try {
    writeSync(STDERR, text + '\n');
  } catch {
    // Nobody reads it.
  }
  process.exit(UNDECIDED);
}
process.on('uncaughtException', (error) => stopWith(textOf(error)));

/** Where nobody reads, the work goes on, and its exit code counts. */
function onOutputError(error: unknown): void {
  if (READER_GONE.has(codeOf(error))) return;
  stopWith(isSystemError(error) ? `error: cannot write the output: ${reasonOf(error)}.` : textOf(error));
}
process.stdout.on('error', onOutputError);
// What goes to stderr is never the work, whatever becomes of it.
process.stderr.on('error', () => undefined);

/** What knows which errors are for people; nothing is, until it is loaded. */
let codeOfError: (error: unknown) => ExitCode | null = () => null;

const isForPeople = (error: unknown): error is Error => codeOfError(error) !== null;

/** One sentence where it is for people; a defect of ours with its stack. */
function textOf(error: unknown): string {
  if (isForPeople(error)) return `error: ${plain(error.message)}`;
  if (['EMFILE', 'ENFILE'].includes(codeOf(error)))
    return `error: ${reasonOf(error)}: raise the limit (ulimit -n).`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function main(): Promise<ExitCode> {
  let code: ExitCode = 0;
  try {
    codeOfError = (await import('./exit.ts')).exitCodeOfError;
    const { program } = await import('./program.ts');
    await program(interrupt.signal, (result) => (code = result)).parseAsync();
    return code;
  } catch (error) {
    // The signal was answered already.
    if (interrupt.signal.aborted && error === interrupt.signal.reason) return UNDECIDED;
    // Commander has said its own sentence already.
    if (!(error instanceof Error && error.name === 'CommanderError'))
      process.stderr.write(textOf(error) + '\n');
    return codeOfError(error) ?? UNDECIDED;
  }
}

// Should nothing be left to wait for although it has not come to its end.
process.exitCode = UNDECIDED;
process.exitCode = await main();
// Whatever a library still holds open must not keep a finished command alive.
process.stdout.write('', (error) => {
  const failure = error ?? process.stdout.errored;
  if (failure) onOutputError(failure);
  process.exit();
});
