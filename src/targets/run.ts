/**
 * Runs an installing program to its end: output line by line to the log, no process left behind.
 */
import { execa } from 'execa';
import { signalGroup } from './group.ts';
import { startGuardian } from './guardian.ts';
import { redact } from './secrets.ts';
import { interrupted } from './target.ts';

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Text for its stdin; without it stdin is empty. */
  readonly input?: string;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

export interface RunResult {
  readonly ok: boolean;
  /** What it wrote to stdout. */
  readonly stdout: string;
  /** Both streams as written, with what looks like a secret taken out. */
  readonly output: string;
}

/** @throws TargetError when the signal is aborted; its process group is gone then. */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  if (options.signal.aborted) throw interrupted('The installation');
  const guardian = startGuardian();
  const child = execa(command, args, {
    env: options.env,
    extendEnv: false,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    input: options.input ?? '',
    all: true,
    reject: false,
    detached: true,
  });
  const { pid } = child;
  const abort = (): void => {
    if (pid !== undefined) signalGroup(pid, 'SIGKILL');
  };
  if (pid !== undefined) guardian.watch(pid);
  options.signal.addEventListener('abort', abort);
  try {
    const lines: string[] = [];
    for await (const line of child.iterable({ from: 'all' })) {
      const clean = redact(line);
      lines.push(clean);
      if (clean !== '') options.log(clean);
    }
    const result = await child;
    if (options.signal.aborted) throw interrupted('The installation');
    const failure =
      result.failed && lines.length === 0 ? redact(result.shortMessage ?? 'no reason given') : '';
    return { ok: !result.failed, stdout: result.stdout, output: lines.join('\n') || failure };
  } finally {
    options.signal.removeEventListener('abort', abort);
    guardian.release();
  }
}
