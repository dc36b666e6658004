/**
 * One arm: a case on a freshly started build, from start to stop.
 */
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { HttpTransport } from '../client/http.ts';
import type { Endpoint } from '../client/types.ts';
import type { ArmContext } from '../drivers/context.ts';
import { privateDirectory, type PrivateDirectory } from '../targets/private.ts';
import { TargetError, type RunningTarget } from '../targets/target.ts';
import { askSettings, Observer } from './observer.ts';
import { RecordingError } from '../recording/writer.ts';
import type { ArmOptions } from './options.ts';
import { obstacle, planSettings, promise, type ArmPlan } from './promises.ts';
import { playStages } from './stages.ts';

const INTERRUPTED = 'the run was interrupted';

/** Why the run was ended before its time: by the user, or because the recording cannot be written on. */
export function abortReason(signal: AbortSignal): { outcome: 'interrupted' | 'failed'; reason: string } {
  return signal.reason instanceof RecordingError
    ? { outcome: 'failed', reason: signal.reason.message }
    : { outcome: 'interrupted', reason: INTERRUPTED };
}

const REQUEST_TIMEOUT_MS = 10_000;
const DEFAULT_IDLE_SECONDS = 1;
/** A few looks of the observer. */
const DEATH_NOTICED_MS = 500;

/** @returns why the target cannot be measured at all, or null where it can. */
export async function runArm(options: ArmOptions): Promise<string | null> {
  const { recorder, arm, build, definition } = options;
  const plan = planSettings(definition, build.record);
  let ownDir: PrivateDirectory | null = null;
  let running: RunningTarget | null = null;
  let failure: string | null = null;
  let unusable: string | null = null;
  try {
    const probeDir = options.probeDir ?? (ownDir = privateDirectory()).path;
    running = await start(options, plan, probeDir);
    writeArm(options, plan, running);
    recorder.write({
      type: 'target',
      arm,
      event: 'ready',
      startMs: running.startMs,
      ...(running.pid !== null && { pid: running.pid }),
    });
    if (obstacle(definition, plan, running.settings) === null)
      failure = await playArm(options, plan, running, probeDir);
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    unusable = failure = error.message;
    if (!running) writeArm(options, plan, null);
    recorder.write({ type: 'target', arm, event: 'failed', reason: failure });
  } finally {
    await running?.stop();
    ownDir?.remove();
  }
  if (running) recorder.write({ type: 'target', arm, event: 'stopped' });
  const ended = options.signal.aborted
    ? abortReason(options.signal)
    : { outcome: failure === null ? ('measured' as const) : ('failed' as const), reason: failure };
  const { outcome, reason } = ended;
  if (outcome === 'failed') options.log.warn(reason);
  else options.log.info({ outcome }, 'arm ended');
  recorder.write({ type: 'arm-end', arm, outcome, ...(reason !== null && { reason }) });
  options.onProgress({ kind: 'arm-end', build: build.record.build, case: definition.id, failure: reason });
  return unusable;
}

async function start(options: ArmOptions, plan: ArmPlan, probeDir: string): Promise<RunningTarget> {
  const { build, definition, arm, signal } = options;
  options.onProgress({ kind: 'stage', build: build.record.build, case: definition.id, stage: 'start' });
  const logFile = join(options.logDir, `${arm}.log`);
  const running = await build.start({ settings: plan.wanted, probeDir, logFile, signal });
  const { probe } = build.record.abilities;
  const { idleTimeoutSeconds, maxSessions } = running.settings;
  if (!probe || (idleTimeoutSeconds !== undefined && maxSessions !== undefined)) return running;
  return { ...running, settings: { ...(await askSettings(probeDir)), ...running.settings } };
}

function writeArm(options: ArmOptions, plan: ArmPlan, running: RunningTarget | null): void {
  const { recorder, arm, build, definition, size } = options;
  const known = running?.settings ?? {};
  recorder.write({
    type: 'arm',
    arm,
    build: build.record.build,
    case: definition.id,
    settings: {
      ...(known.idleTimeoutSeconds !== undefined && { idleTimeoutSeconds: known.idleTimeoutSeconds }),
      ...(known.maxSessions !== undefined && { maxSessions: known.maxSessions }),
    },
    lacks: plan.lacks,
    size,
    // A target that did not start breaks every promise: all is unmeasured, and the run undecided.
    ...(running
      ? promise(definition, plan, known, build.record, options.requireProbe)
      : { promised: [...definition.claims], notPromised: [] }),
  });
}

/** Plays all stages; returns why it was given up, or null. */
async function playArm(
  options: ArmOptions,
  plan: ArmPlan,
  running: RunningTarget,
  probeDir: string,
): Promise<string | null> {
  const given = new AbortController();
  let failure: string | null = null;
  const giveUp = (reason: string): void => {
    failure ??= reason;
    given.abort();
  };
  const endpoint: Endpoint = { url: running.url, headers: running.headers, timeoutMs: REQUEST_TIMEOUT_MS };
  const transport = new HttpTransport(endpoint);
  const signal = AbortSignal.any([options.signal, given.signal]);
  setMaxListeners(0, signal);
  const context = contextOf(options, running, plan, transport, signal, giveUp);
  const { build, definition, recorder, log, arm, sampleEveryMs, onProgress } = options;
  const observer = new Observer({
    arm,
    build: build.record.build,
    case: definition.id,
    running,
    probeDir: build.record.abilities.probe || options.requireProbe ? probeDir : null,
    recorder,
    log,
    sampleEveryMs,
    requests: () => context.completed,
    onProgress,
    onDeath: (reason) => giveUp(`the server died: ${reason}`),
  });
  try {
    await playStages({ options, plan, running, context, observer, endpoint });
  } finally {
    await observer.stop();
    await transport.close();
  }
  return failure;
}

function contextOf(
  options: ArmOptions,
  running: RunningTarget,
  plan: ArmPlan,
  transport: HttpTransport,
  signal: AbortSignal,
  giveUp: (reason: string) => void,
): ArmContext {
  const { arm, recorder, seed } = options;
  const most = Math.max(10, 2 * options.size.concurrency);
  let unanswered = 0;
  return {
    arm,
    seed,
    transport,
    signal,
    tools: running.tools,
    idleTimeoutSeconds:
      plan.wanted.idleTimeoutSeconds ?? running.settings.idleTimeoutSeconds ?? DEFAULT_IDLE_SECONDS,
    sessions: new Map(),
    completed: 0,
    write: (record, endedAt) => {
      recorder.write(record, recorder.at(endedAt));
      if (record.type !== 'op') return;
      // Of openings also those that found no connection; other steps are local for many a reason.
      const unsent = record.outcome === 'local' && (record.step === 'open' || record.step === 'refuse');
      if (record.outcome === 'local' && !unsent) return;
      unanswered = unsent || record.outcome === 'broken' ? unanswered + 1 : 0;
      // A server that hangs would cost a deadline for every request left: its silence is the finding.
      if (unanswered !== most) return;
      const reason = `the server stopped answering: ${unanswered} requests in a row got no answer (${record.note ?? 'no reason given'})`;
      // A process that died is noticed by the observer, which knows why: that goes first.
      void running.alive().finally(() => setTimeout(() => giveUp(reason), DEATH_NOTICED_MS));
    },
  };
}
