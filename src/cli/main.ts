#!/usr/bin/env node
/** The command line's entry, and the only place that exits. */
import { CommanderError } from 'commander';
import { exitCodeOfError, UNDECIDED, type ExitCode } from './exit.ts';
import { program } from './program.ts';

const interrupt = new AbortController();

/** The first signal ends the run in order; who sends a second one does not want to wait for that. */
function onSignal(): void {
  if (interrupt.signal.aborted) process.exit(UNDECIDED);
  process.stderr.write('\nstopping: sessions are being closed and servers ended (again to stop at once)\n');
  interrupt.abort();
}
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);

// A reader that left (| head) is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(UNDECIDED);
  throw error;
});

async function main(): Promise<ExitCode> {
  let code: ExitCode = 0;
  try {
    await program(interrupt.signal, (result) => (code = result)).parseAsync();
    return code;
  } catch (error) {
    const known = exitCodeOfError(error);
    // Commander has said its own sentence already.
    if (!(error instanceof CommanderError)) {
      const text =
        known === null ? ((error as Error).stack ?? String(error)) : `error: ${(error as Error).message}`;
      process.stderr.write(text + '\n');
    }
    return known ?? UNDECIDED;
  }
}

process.exitCode = await main();
// Whatever a library still holds open must not keep a finished command alive.
process.stdout.write('', () => process.exit());
