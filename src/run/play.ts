/**
 * Builds prepared side by side, and their arms played in an order that is fair to each.
 */
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Case, Size } from '../cases/case.ts';
import type { RecordingWriter } from '../recording/writer.ts';
import { TargetError, type Build, type PreparedBuild } from '../targets/target.ts';
import { abortReason, runArm } from './arm.ts';
import type { ArmOptions } from './options.ts';
import type { RunOptions } from './run-options.ts';

export const SAMPLE_EVERY_MS = 100;
/** Arms at a time: waiting for expiry costs nothing, and counts do not depend on speed. */
const ARMS_AT_A_TIME = 4;
const INSTALLS_AT_A_TIME = 4;

/** Builds that cannot be prepared are noticed and left out; the others are measured. */
export async function prepareAll(
  options: RunOptions,
  writer: RecordingWriter,
  builds: readonly Build[],
): Promise<PreparedBuild[]> {
  const limit = pLimit(INSTALLS_AT_A_TIME);
  const prepared = await Promise.all(
    builds.map((build) =>
      limit(async () => {
        try {
          return await build.prepare(options.signal, (text) => {
            options.onProgress({ kind: 'install', build: build.name, text });
            options.log.debug({ build: build.name }, text);
          });
        } catch (error) {
          if (!(error instanceof TargetError)) throw error;
          return { name: build.name, error };
        }
      }),
    ),
  );
  return prepared.flatMap((result) => {
    if ('error' in result) return refuse(options, writer, result.name, result.error);
    writer.write({ type: 'build', ...result.record });
    return [result];
  });
}

function refuse(options: RunOptions, writer: RecordingWriter, name: string, error: TargetError): [] {
  writer.write({
    type: 'build',
    build: name,
    kind: /^https?:/.test(name) ? 'url' : name.startsWith('python:') ? 'python' : 'command',
    sdk: null,
    version: null,
    packages: {},
    config: {},
    abilities: { probe: false, pid: false, settings: [] },
  });
  options.cases.forEach((definition, index) =>
    skipArm(options, writer, `${name}#${index}`, name, definition, error.message),
  );
  return [];
}

/** A case that is not played stands in the recording as promised and unmeasured, so that the run is undecided. */
function skipArm(
  options: RunOptions,
  writer: RecordingWriter,
  arm: string,
  build: string,
  definition: Case,
  failure: string,
): void {
  const { size, claims } = definition;
  const { outcome, reason } = options.signal.aborted
    ? abortReason(options.signal)
    : { outcome: 'failed' as const, reason: failure };
  writer.write({
    type: 'arm',
    arm,
    build,
    case: definition.id,
    settings: {},
    lacks: [],
    size,
    promised: [...claims],
    notPromised: [],
  });
  writer.write({ type: 'arm-end', arm, outcome, reason });
  options.onProgress({ kind: 'arm-end', build, case: definition.id, failure: reason });
}

/**
 * Case by case, all builds of one case close together, forwards and backwards in turn (A B, B A, …): a machine
 * that drifts meets each of them alike.
 * @param before how many arms were played before these
 */
export async function playAll(
  options: RunOptions,
  writer: RecordingWriter,
  builds: readonly PreparedBuild[],
  before: number,
): Promise<void> {
  // Arms that share a folder of probes would count each other's sessions.
  const limit = pLimit(options.probeDir === null ? ARMS_AT_A_TIME : 1);
  const arms = options.cases.flatMap((definition, i) => {
    const order = i % 2 === 0 ? builds : [...builds].reverse();
    return order.map((build) => ({ definition, build }));
  });
  /** What does not start once is not started again: its deadline would be waited for in every case. */
  const unstartable = new Map<PreparedBuild, string>();
  const playOne = async ({ definition, build }: (typeof arms)[number], arm: string): Promise<void> => {
    const failure = unstartable.get(build);
    if (options.signal.aborted || failure !== undefined) {
      skipArm(options, writer, arm, build.record.build, definition, failure ?? 'it was not played');
      return;
    }
    const unstarted = await runArm(armOptions(options, writer, build, definition, arm));
    if (unstarted !== null) unstartable.set(build, unstarted);
  };
  // Cases that share a running server would count each other's sessions, and two names may be one server's.
  const foreign = pLimit(1);
  const turns = new Map(
    builds.map((build) => [build, build.foreign ? foreign : pLimit(ARMS_AT_A_TIME)] as const),
  );
  await Promise.all(
    arms.map((one, i) =>
      (turns.get(one.build) ?? limit)(() => limit(() => playOne(one, `a${before + i + 1}`))),
    ),
  );
}

function armOptions(
  options: RunOptions,
  recorder: RecordingWriter,
  build: PreparedBuild,
  definition: Case,
  arm: string,
): ArmOptions {
  const { seed, probeDir, requireProbe, signal, onProgress } = options;
  const log = options.log.child({ arm, build: build.record.build, case: definition.id });
  const size: Size = { ...definition.size, ...options.sizes?.[definition.id], ...options.size };
  const logDir = join(options.out, 'logs');
  return {
    arm,
    build,
    definition,
    size,
    seed,
    recorder,
    sampleEveryMs: SAMPLE_EVERY_MS,
    logDir,
    probeDir,
    requireProbe,
    signal,
    onProgress,
    log,
  };
}
