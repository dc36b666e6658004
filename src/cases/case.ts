/**
 * What a case is: settings for the server, stages to play in order, claims to judge. Pure data and pure
 * functions; k6 loads this file too.
 */
import { pick, type Pick } from './pick.ts';
import type { Step } from './steps.ts';

/** Server settings that a case asks for. Absent: the build's own default. */
export interface CaseSettings {
  readonly idleTimeoutSeconds?: number;
  readonly maxSessions?: number;
}

/** How much load: `sessions` in the main stage, `warmUp` before it (not judged), `concurrency` at a time. */
export interface Size {
  readonly sessions: number;
  readonly warmUp: number;
  readonly concurrency: number;
}

/** What every stage may depend on: the size asked for and the settings in force. */
export interface StageContext {
  readonly size: Size;
  readonly settings: CaseSettings;
}

/** Plans played by the lifecycle driver, `sessions` of them, `concurrency` at a time. */
export interface PlayStage {
  readonly kind: 'play';
  readonly name: string;
  readonly phase: 'warm-up' | 'load' | 'after';
  readonly sessions: number;
  readonly concurrency: number;
  readonly plan: (pick: Pick) => readonly Step[];
}

/** `amount` initialize requests by autocannon, over `connections` connections: each must be refused. */
export interface FloodStage {
  readonly kind: 'flood';
  readonly name: string;
  readonly phase: 'after';
  readonly amount: number;
  readonly connections: number;
}

/** Wait until the server's counts have come to rest, so that they can be judged. */
export interface SettleStage {
  readonly kind: 'settle';
  readonly name: string;
  readonly phase: 'settle';
}

/** Wait until every session that idle expiry must reclaim is gone, or its time has passed. */
export interface ExpireStage {
  readonly kind: 'expire';
  readonly name: string;
  readonly phase: 'expiry';
}

export type Stage = PlayStage | FloodStage | SettleStage | ExpireStage;

/** Claims that every case makes. */
export const EVERY_CASE_CLAIMS = ['identity.holds', 'survival.serves-after'] as const;

/** Why some targets cannot be asked a case at all. */
export type CaseNeed =
  /** An idle timeout that is known and short enough to wait for. */
  | 'idle-timeout'
  /** A cap on sessions that is known, or known to be absent. */
  | 'max-sessions';

export interface Case {
  readonly id: string;
  readonly title: string;
  readonly settings: CaseSettings;
  readonly needs: readonly CaseNeed[];
  readonly size: Size;
  readonly stages: (context: StageContext) => readonly Stage[];
  /** Stable claim ids, those of every case included. */
  readonly claims: readonly string[];
}

/** A case as its file writes it: `needs` may be left out, the claims of every case are added. */
export function defineCase(definition: Omit<Case, 'needs'> & { readonly needs?: readonly CaseNeed[] }): Case {
  return { needs: [], ...definition, claims: [...definition.claims, ...EVERY_CASE_CLAIMS] };
}

/** The steps of session `index` of a stage: a pure function of seed, stage and index. */
export function planOf(stage: PlayStage, seed: number, index: number): readonly Step[] {
  return stage.plan(pick(seed, stage.name, index));
}

/** A warm-up stage with the main stage's own plan, so that caches and pools are filled before samples count. */
export function warmUp(load: PlayStage, sessions: number): PlayStage {
  return { ...load, name: 'warm-up', phase: 'warm-up', sessions };
}

export const settle = (name = 'settle'): SettleStage => ({ kind: 'settle', name, phase: 'settle' });
export const expire = (): ExpireStage => ({ kind: 'expire', name: 'expiry', phase: 'expiry' });
export const play = (
  name: string,
  phase: 'load' | 'after',
  sessions: number,
  concurrency: number,
  plan: (pick: Pick) => readonly Step[],
): PlayStage => ({ kind: 'play', name, phase, sessions, concurrency, plan });
