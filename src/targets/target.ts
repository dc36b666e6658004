/**
 * What every kind of target offers: a build is prepared once, then started afresh for each arm.
 */
import type { CaseSettings } from '../cases/case.ts';
import type { ToolChoice } from '../client/types.ts';
import type { BuildRecord } from '../recording/schema.ts';

export interface StartOptions {
  /** Settings wanted by the case; those the build lacks are left out and named in `lacks`. */
  readonly settings: CaseSettings;
  /** A private directory (mode 0700) for this arm's probe sockets. */
  readonly probeDir: string;
  /** File that the program's stdout and stderr go to. */
  readonly logFile: string;
  /** Aborted on Ctrl-C: start gives up and cleans behind itself. */
  readonly signal: AbortSignal;
}

/** A setting as far as it is known: a number, null for none, undefined for unknown. */
export interface KnownSettings {
  readonly idleTimeoutSeconds?: number | null;
  readonly maxSessions?: number | null;
  /** A probe answers and knows neither. */
  readonly untold?: true;
}

export interface RunningTarget {
  /** The MCP endpoint. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The server's own process (not a launcher's), or null where it is not known. */
  readonly pid: number | null;
  /** Milliseconds from start to ready; 0 for a server that someone else runs. */
  readonly startMs: number;
  readonly settings: KnownSettings;
  readonly tools: ToolChoice;
  /** Is it still there? For a process: it has not exited. For a URL: a bare TCP connect succeeds. */
  alive(): Promise<boolean>;
  /** Why the process ended, in one sentence, with the last lines of its log; null while it runs. */
  death(): string | null;
  /** Ends it: closes stdin, then SIGTERM, then SIGKILL to its process group; resolves once it is reaped. */
  stop(): Promise<void>;
}

/** A build made ready: installed, looked at, not started. */
export interface PreparedBuild {
  readonly record: Omit<BuildRecord, 'type' | 't'>;
  /** Sessions that a case leaves behind must be deleted at the end: the server is someone else's. */
  readonly foreign: boolean;
  /** @throws TargetError when it does not start. */
  start(options: StartOptions): Promise<RunningTarget>;
}

export interface Build {
  /** Name in tables: `python:mcp@1.29.1`, a name from the configuration, or a URL. */
  readonly name: string;
  /** Checks what can be checked before anything is written or started. @throws UsageError */
  admit(): Promise<void>;
  /** @throws TargetError when it cannot be installed. */
  prepare(signal: AbortSignal, log: (line: string) => void): Promise<PreparedBuild>;
}

/** A target could not be prepared or started: one sentence that says what and what to do. Exit code 3. */
export class TargetError extends Error {
  override name = 'TargetError';
}

/** What preparing or starting ends with when its signal is aborted. */
export const interrupted = (what: string): TargetError =>
  new TargetError(`${what} was given up because the run was interrupted`);

/** The command line or the configuration is wrong: one sentence that names the field and the mend. Exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}
