/**
 * The stages of one arm in their order: a first look, the case's own, clean-up, and whether the server still serves.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { PREFLIGHT, SURVIVAL } from '../cases/around.ts';
import type { Stage } from '../cases/case.ts';
import type { Endpoint } from '../client/types.ts';
import type { ArmContext } from '../drivers/context.ts';
import { playFlood } from '../drivers/flood.ts';
import { deleteSession, playStage } from '../drivers/lifecycle.ts';
import { DEFAULT_LAG_MS } from '../ledger/ledger.ts';
import type { OpRecord } from '../recording/schema.ts';
import { publicUrl } from '../targets/secrets.ts';
import { TargetError, type RunningTarget } from '../targets/target.ts';
import { total, type Observer } from './observer.ts';
import type { ArmOptions } from './options.ts';
import type { ArmPlan } from './promises.ts';

export interface Playing {
  readonly options: ArmOptions;
  readonly plan: ArmPlan;
  readonly running: RunningTarget;
  readonly context: ArmContext;
  readonly observer: Observer;
  readonly endpoint: Endpoint;
}

/** @throws TargetError when a server that is not ours does not open a session at all */
export async function playStages(playing: Playing): Promise<void> {
  const { options, plan, running, context, observer } = playing;
  const maxSessions = plan.wanted.maxSessions ?? running.settings.maxSessions;
  const settings = maxSessions == null ? {} : { maxSessions };
  if (options.build.record.kind !== 'python') await preflight(playing);
  const baseline = total(await observer.sample()) ?? 0;
  observer.start();
  for (const stage of options.definition.stages({ size: options.size, settings })) {
    if (context.signal.aborted) break;
    await playOne(playing, stage, baseline);
  }
  await cleanUp(playing);
  // Also after an interruption: an answer is owed, but only a target that still stands can give it.
  if (!context.signal.aborted) await playOne(playing, SURVIVAL, baseline);
  options.recorder.write({ type: 'phase', arm: options.arm, phase: 'end', stage: 'end' });
  await observer.sample();
}

/** Our own builds are known to be an MCP server. */
async function preflight(playing: Playing): Promise<void> {
  const { context } = playing;
  const answers: OpRecord[] = [];
  const watching: ArmContext = {
    ...context,
    write: (record, endedAt) => {
      if (record.type === 'op') answers.push({ ...record, t: 0 });
      context.write(record, endedAt);
    },
  };
  announce(playing, PREFLIGHT);
  await playStage(watching, PREFLIGHT);
  const opened = answers.find((op) => op.step === 'open');
  if (!opened || opened.outcome === 'ok' || context.signal.aborted) {
    await delay(DEFAULT_LAG_MS, undefined, { signal: context.signal }).catch(() => undefined);
    return;
  }
  const answer = opened.status === undefined ? '' : `HTTP ${opened.status}`;
  throw new TargetError(
    `${publicUrl(playing.running.url)} does not open an MCP session: ${[answer, opened.note].filter(Boolean).join(', ')}`,
  );
}

function announce(
  playing: Playing,
  stage: Pick<Stage, 'phase' | 'name'> | { phase: 'clean-up'; name: string },
): void {
  const { recorder, arm, build, definition, onProgress } = playing.options;
  recorder.write({ type: 'phase', arm, phase: stage.phase, stage: stage.name });
  onProgress({ kind: 'stage', build: build.record.build, case: definition.id, stage: stage.name });
}

async function playOne(playing: Playing, stage: Stage, baseline: number): Promise<void> {
  const { context, observer, endpoint } = playing;
  announce(playing, stage);
  if (stage.kind === 'play') await playStage(context, stage);
  else if (stage.kind === 'flood') await playFlood(context, stage, endpoint);
  else if (stage.kind === 'settle') await observer.settle(context.signal);
  else await observer.expire(baseline, context.idleTimeoutSeconds, context.signal);
}

/** Deletes what is still held; on someone else's server also what the case left behind. */
async function cleanUp(playing: Playing): Promise<void> {
  const { context, options, running } = playing;
  const left = [...context.sessions.values()].filter(
    (s) => !s.deleted && (!s.dropped || options.build.foreign),
  );
  if (left.length === 0 || running.death() !== null) return;
  announce(playing, { phase: 'clean-up', name: 'clean-up' });
  const worker = async (): Promise<void> => {
    for (let planned = left.pop(); planned; planned = left.pop())
      await deleteSession(context, 'clean-up', planned);
  };
  await Promise.all(Array.from({ length: options.size.concurrency }, worker));
}
