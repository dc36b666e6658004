/** Plays stages against a server in this process and keeps what the drivers record, as a recording would. */
import type { PlayStage } from '../../src/cases/case.ts';
import { HttpTransport } from '../../src/client/http.ts';
import { DEFAULT_TOOLS, type Endpoint } from '../../src/client/types.ts';
import type { ArmContext } from '../../src/drivers/context.ts';
import { playStage } from '../../src/drivers/lifecycle.ts';
import type { FloodRecord, OpRecord } from '../../src/recording/schema.ts';

/** What the server itself counted at a moment on the recording's clock. */
export interface Reading {
  readonly t: number;
  readonly live: number;
}

export interface Played {
  readonly ops: readonly OpRecord[];
  readonly floods: readonly FloodRecord[];
  /** The server's own counts while the stages were played, ascending. */
  readonly readings: readonly Reading[];
}

/** Every so many steps the server is asked for its own count. */
const READ_EVERY = 199;

/** Times stand in a recording to a hundredth of a millisecond. */
const round = (ms: number): number => Math.round(ms * 100) / 100;

/** @param live the server's own count now */
export async function played(
  url: string,
  live: () => number,
  play: (context: ArmContext, endpoint: Endpoint) => Promise<void>,
): Promise<Played> {
  const endpoint: Endpoint = { url, headers: {}, timeoutMs: 30_000 };
  const transport = new HttpTransport(endpoint);
  const ops: OpRecord[] = [];
  const floods: FloodRecord[] = [];
  const readings: Reading[] = [];
  const context: ArmContext = {
    arm: 'a1',
    seed: 1,
    transport,
    tools: DEFAULT_TOOLS,
    idleTimeoutSeconds: 1,
    signal: new AbortController().signal,
    sessions: new Map(),
    completed: 0,
    write: (record, endedAt) => {
      if (record.type === 'flood') floods.push({ ...record, t: round(endedAt) });
      else ops.push({ ...record, t: round(endedAt) });
      if (ops.length % READ_EVERY === 0) readings.push({ t: round(performance.now()), live: live() });
    },
  };
  try {
    await play(context, endpoint);
  } finally {
    await transport.close();
  }
  return { ops, floods, readings };
}

/** A stage, played and recorded. */
export const playedStage = (url: string, live: () => number, stage: PlayStage): Promise<Played> =>
  played(url, live, (context) => playStage(context, stage));
