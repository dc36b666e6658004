/**
 * The three series of each arm on one time axis, thinned for a picture.
 */
import type { ArmEvents, Recording } from '../recording/reader.ts';
import type { PhaseRecord, SampleRecord } from '../recording/schema.ts';
import { evidenceOf } from './evidence.ts';

/** Columns of equal length; null where a series could not be read. A restart or a death is no sample. */
export interface ArmSeries {
  readonly build: string;
  readonly case: string;
  /** Seconds since the arm began. */
  readonly seconds: readonly number[];
  readonly registered: readonly (number | null)[];
  readonly expectedMin: readonly (number | null)[];
  readonly expectedMax: readonly (number | null)[];
  /** Resident memory, MiB. */
  readonly memoryMib: readonly (number | null)[];
  /** Requests that the client side has seen completed so far. */
  readonly requests: readonly number[];
  readonly phases: readonly { readonly phase: PhaseRecord['phase']; readonly from: number; readonly to: number }[];
  /** Seconds at which the server's process ended or another one answered. */
  readonly restarts: readonly number[];
  /** Samples before thinning. */
  readonly samples: number;
}

/** At most this many points of one arm are drawn: more than a picture has columns. */
const MOST_POINTS = 1200;

export function seriesOf(recording: Recording): ArmSeries[] {
  return recording.arms.map((events) => armSeries(events, recording));
}

function armSeries(events: ArmEvents, recording: Recording): ArmSeries {
  const kind = recording.builds.find((build) => build.build === events.arm.build)?.kind ?? 'url';
  const { counts } = evidenceOf(events, recording.header, kind);
  const countAt = new Map(counts.map((count) => [count.t, count]));
  const began = events.arm.t;
  const step = Math.max(1, Math.ceil(events.samples.length / MOST_POINTS));
  const drawn = events.samples.filter((sample, i) => i % step === 0 || sample.settled === true);
  const count = (sample: SampleRecord) => countAt.get(sample.t);
  return {
    build: events.arm.build,
    case: events.arm.case,
    seconds: drawn.map((sample) => (sample.t - began) / 1000),
    registered: drawn.map((sample) => count(sample)?.registered ?? null),
    expectedMin: drawn.map((sample) => count(sample)?.expected.min ?? null),
    expectedMax: drawn.map((sample) => count(sample)?.expected.max ?? null),
    memoryMib: drawn.map((sample) => (sample.memory ? sample.memory.rssBytes / 1024 ** 2 : null)),
    requests: drawn.map((sample) => sample.requests),
    phases: phasesOf(events, began),
    restarts: events.targets.filter((target) => target.event === 'died').map((target) => (target.t - began) / 1000),
    samples: events.samples.length,
  };
}

function phasesOf(events: ArmEvents, began: number): ArmSeries['phases'] {
  const end = events.end?.t ?? events.samples.at(-1)?.t ?? began;
  const spans = events.phases.map((record, i) => ({
    phase: record.phase,
    from: (record.t - began) / 1000,
    to: ((events.phases[i + 1]?.t ?? end) - began) / 1000,
  }));
  return spans.filter((span) => span.phase !== 'end');
}
