/**
 * A guardian ends a process group when this tool is gone, however it ended (SIGKILL too). It is a small shell in
 * a session of its own whose stdin is a pipe from the tool: the kernel closes it with the tool.
 */
import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

export interface Guardian {
  /** The group to end; known only once its first process runs. */
  watch(group: number): void;
  /** Ends the guardian without harm. Call it as soon as the group is gone, before its number can be another's. */
  release(): void;
}

// First line: the group. A second line is an orderly end; the pipe's end without one means that the tool is gone.
const SCRIPT = 'read -r group || exit 0; read -r end || kill -s KILL -- "-$group"';

/** Starts a guardian. Start it before the program, so that there is no moment without one. */
export function startGuardian(): Guardian {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'mcp-retention-guardian'], {
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell there is no guardian, and EOF on the program's own stdin must do.
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  // Neither the shell nor its pipe keeps the tool from ending.
  shell.unref();
  (shell.stdin as Writable & { unref(): void }).unref();
  let watching = false;
  return {
    watch: (group) => {
      watching = true;
      shell.stdin.write(`${group}\n`);
    },
    release: () => void shell.stdin.end(watching ? 'end\n' : ''),
  };
}
