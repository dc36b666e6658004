/**
 * Takes one build of a recording over into another one, so that a comparison's recording holds both sides.
 */
import type { ArmEvents, Recording } from './reader.ts';
import type { HeaderRecord, OriginRecord, RecordingRecord } from './schema.ts';
import type { Recorder } from './writer.ts';

export interface CarryOptions {
  /** The build's name in the recording it comes from, and in the new one. */
  readonly build: string;
  readonly as: string;
  /** Put before the names of its arms, which must not meet those of the new recording. */
  readonly prefix: string;
  /** Ids of the cases that are taken over; default: all. */
  readonly cases?: readonly string[];
}

/** The build that a recording stands for where another is compared with it: a comparison's candidate, or its only one. */
export function standingBuild(recording: Recording): string | null {
  if (recording.comparison) return recording.comparison.candidate;
  return recording.builds.length === 1 ? (recording.builds[0]?.build ?? null) : null;
}

export function originOf(recording: Recording): OriginRecord {
  const { tool, host, startedAt, policy, seed } = recording.comparison?.origins.candidate ?? recording.header;
  return { tool, host, startedAt, policy, seed };
}

/** Records keep their times: within an arm, times are what counts. What was damaged is noticed. */
export function carryOver(recorder: Recorder, recording: Recording, options: CarryOptions): void {
  const { build, as, prefix, cases } = options;
  for (const record of recording.builds) if (record.build === build) put(recorder, { ...record, build: as });
  const names = new Set<string>();
  for (const events of recording.arms)
    if (events.arm.build === build && cases?.includes(events.arm.case) !== false) {
      names.add(events.arm.arm);
      carryArm(recorder, events, prefix, as);
    }
  for (const notice of recording.notices) {
    if (notice.arm !== undefined && names.has(notice.arm))
      put(recorder, { ...notice, arm: prefix + notice.arm });
  }
  for (const text of recording.damage)
    recorder.write({ type: 'notice', code: DAMAGE, text: `The recording of ${as} is damaged: ${text}.` });
  if (recording.end?.reason !== 'complete')
    recorder.write({
      type: 'notice',
      code: DAMAGE,
      text: `The recording of ${as} was not played to its end.`,
    });
}

/** Code of the notices that tell what a carried recording lacks: what holds it is no more whole than it. */
const DAMAGE = 'damage';

/** Nothing is missing in it, nor in those that were carried over into it. */
export const isWhole = (recording: Recording): boolean =>
  recording.end?.reason === 'complete' &&
  recording.damage.length === 0 &&
  !recording.notices.some(({ code }) => code === DAMAGE);

type Timed = Exclude<RecordingRecord, HeaderRecord>;

/** Writes a record with the time that it has. */
function put(recorder: Recorder, { t, ...record }: Timed): void {
  recorder.write(record, t);
}

function carryArm(recorder: Recorder, events: ArmEvents, prefix: string, build: string): void {
  const arm = prefix + events.arm.arm;
  const write = (record: Timed): void => put(recorder, { ...record, arm } as Timed);
  write({ ...events.arm, build });
  for (const record of events.targets) write(record);
  for (const record of events.phases) write(record);
  for (const record of events.ops) write(record);
  for (const record of events.floods) write(record);
  for (const record of events.samples) write(record);
  // A recording that was cut has no end of the arm: here its reason stands for it.
  write(
    events.end ?? {
      type: 'arm-end',
      t: events.arm.t,
      arm,
      outcome: 'interrupted',
      reason: 'the recording that it comes from was cut',
    },
  );
}
