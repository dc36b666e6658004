/** What the claims are judged by. */
import type { Finding } from '../verdict/finding.ts';
import type { LoadSide } from './load-side.ts';
import type { Retention } from './retention.ts';
import type { ServerSide } from './server-side.ts';

/** What is known of one target in one run. */
export interface Known {
  readonly load: LoadSide;
  readonly server: ServerSide;
  readonly retention: Retention;
  /** The run is of one case alone, so that all of the target's counts are this case's. */
  readonly alone: boolean;
  readonly policy: { readonly idleMaxSeconds: number | null; readonly maxSessions: number | null };
}

export type Judge = (known: Known, ofCase: string) => Finding;
