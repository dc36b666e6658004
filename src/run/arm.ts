/**
 * One arm: a case on a freshly started build, from start to stop.
 */
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { play, type Case, type PlayStage, type Size, type Stage } from '../cases/case.ts';
import { call, del, initialized, open } from '../cases/steps.ts';
import { HttpTransport } from '../client/http.ts';
import type { Endpoint } from '../client/types.ts';
import type { ArmContext } from '../drivers/context.ts';
import { playFlood } from '../drivers/flood.ts';
import { deleteSession, playStage } from '../drivers/lifecycle.ts';
import type { OpRecord } from '../recording/schema.ts';
import type { Recorder } from '../recording/writer.ts';
import { TargetError, type PreparedBuild, type RunningTarget } from '../targets/target.ts';
import type { OnProgress } from './events.ts';
import { Observer, total } from './observer.ts';
import { obstacle, planSettings, promise, type ArmPlan } from './promises.ts';

const REQUEST_TIMEOUT_MS = 10_000;
const DEFAULT_IDLE_SECONDS = 1;

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
}

export async function runArm(options: ArmOptions): Promise<void> {
  const { recorder, arm, build, definition } = options;
  const plan = planSettings(definition, build.record);
  const probeDir = options.probeDir ?? mkdtempSync(join(tmpdir(), 'mcpr-'));
  let running: RunningTarget | null = null;
  let failure: string | null = null;
  try {
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
    failure = error.message;
    if (!running) writeArm(options, plan, null);
    recorder.write({ type: 'target', arm, event: 'failed', reason: failure });
  } finally {
    await running?.stop();
    if (options.probeDir === null) rmSync(probeDir, { recursive: true, force: true });
  }
  if (running) recorder.write({ type: 'target', arm, event: 'stopped' });
  const interrupted = options.signal.aborted;
  const outcome = interrupted ? 'interrupted' : failure === null ? 'measured' : 'failed';
  const reason = interrupted ? 'the run was interrupted' : failure;
  recorder.write({ type: 'arm-end', arm, outcome, ...(reason !== null && { reason }) });
  options.onProgress({ kind: 'arm-end', build: build.record.build, case: definition.id, failure: reason });
}

async function start(options: ArmOptions, plan: ArmPlan, probeDir: string): Promise<RunningTarget> {
  const { build, definition, arm, signal } = options;
  options.onProgress({ kind: 'stage', build: build.record.build, case: definition.id, stage: 'start' });
  return build.start({
    settings: plan.wanted,
    probeDir,
    logFile: join(options.logDir, `${arm}.log`),
    signal,
  });
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
    // A target that did not start keeps its promises: they are unmeasured, and the run undecided.
    ...promise(
      definition,
      plan,
      running ? known : { idleTimeoutSeconds: null, maxSessions: null, ...plan.wanted },
      build.record,
      options.requireProbe,
    ),
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
  const { build, definition, recorder, arm, sampleEveryMs, onProgress } = options;
  const observer = new Observer({
    arm,
    build: build.record.build,
    case: definition.id,
    running,
    probeDir: build.record.abilities.probe || options.requireProbe ? probeDir : null,
    recorder,
    sampleEveryMs,
    requests: () => context.completed,
    onProgress,
    onDeath: (reason) => giveUp(`the server died: ${reason}`),
  });
  try {
    await playStages({ options, plan, running, context, observer, endpoint, giveUp });
  } finally {
    await observer.stop();
    await transport.close();
  }
  return failure;
}

interface Playing {
  readonly options: ArmOptions;
  readonly plan: ArmPlan;
  readonly running: RunningTarget;
  readonly context: ArmContext;
  readonly observer: Observer;
  readonly endpoint: Endpoint;
  readonly giveUp: (reason: string) => void;
}

async function playStages(playing: Playing): Promise<void> {
  const { options, plan, running, context, observer } = playing;
  const maxSessions = plan.wanted.maxSessions ?? running.settings.maxSessions;
  const settings = maxSessions == null ? {} : { maxSessions };
  const baseline = total(await observer.sample()) ?? 0;
  observer.start();
  if (options.build.record.kind !== 'python') await preflight(playing);
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

const SURVIVAL: PlayStage = play('survival', 'after', 1, 1, (pick) => [
  open(),
  initialized(),
  call(pick.text()),
  del(),
]);

/** One session opened and deleted: is there an MCP server at all? Our own builds are known to be one. */
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
  if (!opened || opened.outcome === 'ok' || context.signal.aborted) return;
  const answer = opened.status === undefined ? '' : `HTTP ${opened.status}`;
  throw new TargetError(
    `${hostOf(playing.running.url)} does not open an MCP session: ${[answer, opened.note].filter(Boolean).join(', ')}`,
  );
}

const PREFLIGHT: PlayStage = play('preflight', 'after', 1, 1, () => [open(), initialized(), del()]);

/** Scheme, host and path: a query may hold a token. */
const hostOf = (url: string): string => url.replace(/[?#].*$/, '').replace(/\/\/[^/@]*@/, '//');

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
      if (record.type !== 'op' || record.outcome === 'local') return;
      unanswered = record.outcome === 'broken' ? unanswered + 1 : 0;
      // A server that hangs would cost a deadline for every request left: its silence is the finding.
      if (unanswered >= most)
        giveUp(
          `the server stopped answering: ${unanswered} requests in a row got no answer (${record.note ?? 'no reason given'})`,
        );
    },
  };
}
