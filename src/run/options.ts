/**
 * What one arm is played with.
 */
import type { Case, Size } from '../cases/case.ts';
import type { Logger } from '../log.ts';
import type { Recorder } from '../recording/writer.ts';
import type { PreparedBuild } from '../targets/target.ts';
import type { OnProgress } from './events.ts';

export interface ArmOptions {
  readonly arm: string;
  readonly build: PreparedBuild;
  readonly definition: Case;
  readonly size: Size;
  readonly seed: number;
  readonly recorder: Recorder;
  readonly sampleEveryMs: number;
  /** Folder that the program's own output goes to. */
  readonly logDir: string;
  /** Where probes are found, or null for a private directory of this arm. */
  readonly probeDir: string | null;
  /** Promise registry claims even where no probe is known: without one the run is undecided. */
  readonly requireProbe: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
  readonly log: Logger;
}
