/** What a run is given, and what it has done so far. */
import type { Case, Size } from '../cases/case.ts';
import type { Logger } from '../log.ts';
import type { HeaderRecord } from '../recording/schema.ts';
import type { Recorder } from '../recording/writer.ts';
import type { Build, PreparedBuild } from '../targets/target.ts';
import type { OnProgress } from './events.ts';

export const DEFAULT_SEED = 1;

export interface RunOptions {
  readonly builds: readonly Build[];
  readonly cases: readonly Case[];
  /** Replaces a case's own sessions and concurrency where given. */
  readonly size: Partial<Pick<Size, 'sessions' | 'concurrency'>>;
  /** By case, in place of its own: what an earlier run was played with. */
  readonly sizes?: Readonly<Record<string, Size>>;
  readonly seed: number;
  /** Folder for the recording and the servers' logs; made when absent. */
  readonly out: string;
  readonly policy: HeaderRecord['policy'];
  readonly probeDir: string | null;
  readonly requireProbe: boolean;
  /** The command line as it was given, without secrets. */
  readonly command: string;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
  readonly log: Logger;
  /** Claims whose failure is allowed, with the reason. */
  readonly allow?: Readonly<Record<string, string>>;
  /** Writes what is known before anything is measured: what is compared, or swept. */
  readonly before?: (recorder: Recorder) => void;
  /** After all given builds were played: further ones, or none. Called again after those. */
  readonly next?: (played: Played) => Promise<readonly Build[]>;
  /** After the last arm, with everything still at hand. */
  readonly after?: (played: Played) => Promise<void>;
}

/** What is the same whatever a command plays. */
export type CommonRunOptions = Omit<
  RunOptions,
  'builds' | 'cases' | 'seed' | 'sizes' | 'before' | 'next' | 'after'
>;

/** What a run has done so far. */
export interface Played {
  readonly options: RunOptions;
  /** Builds that could be prepared. */
  readonly builds: readonly PreparedBuild[];
  readonly recorder: Recorder;
  /** The recording's path: everything written so far stands in it. */
  readonly recording: string;
  /** Also aborted where the recording cannot be written on. */
  readonly signal: AbortSignal;
}
