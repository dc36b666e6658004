/**
 * What the drivers need to play the stages of one arm.
 */
import type { McpSession } from '../client/session.ts';
import type { HttpTransport } from '../client/http.ts';
import type { SessionId } from '../client/id.ts';
import type { Exchange, ToolChoice } from '../client/types.ts';
import type { Span, StepName } from '../cases/steps.ts';
import type { FloodRecord, OpRecord, Untimed } from '../recording/schema.ts';

/** A session as a plan left it: open, dropped or ended, and found again by `resume`. */
export interface PlannedSession {
  readonly key: string;
  /** null where the server gave none. */
  readonly id: SessionId | null;
  /** null once deleted: a run has many sessions, and of a deleted one nothing but its id is of use. */
  session: McpSession | null;
  /** Ended by DELETE: never to be closed again. */
  deleted: boolean;
  /** Left behind on purpose. */
  dropped: boolean;
}

export interface ArmContext {
  readonly arm: string;
  readonly seed: number;
  readonly transport: HttpTransport;
  readonly tools: ToolChoice;
  /** What `idleTimeouts` in a plan's spans are multiples of. */
  readonly idleTimeoutSeconds: number;
  /** Aborted on Ctrl-C and when the target has died: no new session is begun, waits end. */
  readonly signal: AbortSignal;
  /** Latest session of each plan, by `stage:index`. */
  readonly sessions: Map<string, PlannedSession>;
  /** Requests completed so far. */
  completed: number;
  /** Told before a step sends anything, for those who count while it runs. @param at performance.now() */
  begin?(session: string, step: OpName, at: number): void;
  /** @param endedAt performance.now() at which it ended. */
  write(record: Untimed<OpRecord | FloodRecord>, endedAt: number): void;
}

export type OpName = StepName | 'stream-end';

/** Records one step of one session. */
export function recordOp(
  context: ArmContext,
  stage: string,
  session: string,
  step: OpName,
  exchange: Exchange,
  kind?: string,
  fresh?: boolean,
): void {
  const { outcome, status, code, sid, note, startedAt, endedAt } = exchange;
  if (status !== undefined) context.completed++;
  const ms = Math.round((endedAt - startedAt) * 100) / 100;
  // Written out, because this runs for every request: spreads cost more than the rest of it.
  const record: Untimed<OpRecord> = { type: 'op', arm: context.arm, stage, session, step, ms, outcome };
  if (status !== undefined) record.status = status;
  if (code !== undefined) record.code = code;
  if (kind !== undefined) record.kind = kind;
  if (sid !== undefined) record.sid = sid;
  if (fresh !== undefined) record.fresh = fresh;
  if (note !== undefined) record.note = note;
  context.write(record, endedAt);
}

/** A span in seconds. */
export function secondsOf(context: ArmContext, span: Span): number {
  return 'seconds' in span ? span.seconds : span.idleTimeouts * context.idleTimeoutSeconds;
}
