#!/usr/bin/env node
/** The command line's entry, and the only place that exits. */
import { writeSync } from 'node:fs';
import { CommanderError } from 'commander';
import { codeOf, isSystemError, reasonOf } from '../errno.ts';
import { plain } from '../report/plain.ts';
import { exitCodeOfError, UNDECIDED, type ExitCode } from './exit.ts';
import { program } from './program.ts';

const STDERR = 2;
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
function onDefect(error: unknown): void {
  try {
    writeSync(STDERR, textOf(error) + '\n');
  } catch {
    // Nobody reads it.
  }
  process.exit(UNDECIDED);
}
process.on('uncaughtException', onDefect);

for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The work goes on, and its exit code counts.
    if (READER_GONE.has(codeOf(error))) return;
    onDefect(isSystemError(error) ? new Error(`cannot write the output: ${reasonOf(error)}`) : error);
  });

const isForPeople = (error: unknown): error is Error => exitCodeOfError(error) !== null;

/** One sentence where it is for people; a defect of ours with its stack. */
function textOf(error: unknown): string {
  if (isForPeople(error)) return `error: ${plain(error.message)}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function main(): Promise<ExitCode> {
  let code: ExitCode = 0;
  try {
    await program(interrupt.signal, (result) => (code = result)).parseAsync();
    return code;
  } catch (error) {
    // Commander has said its own sentence already.
    if (!(error instanceof CommanderError)) process.stderr.write(textOf(error) + '\n');
    return exitCodeOfError(error) ?? UNDECIDED;
  }
}

// Should nothing be left to wait for although it has not come to its end.
process.exitCode = UNDECIDED;
process.exitCode = await main();
// Whatever a library still holds open must not keep a finished command alive.
process.stdout.write('', () => process.exit());
