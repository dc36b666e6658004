/**
 * The three series of each arm on one time axis, thinned for a picture.
 */
import type { ArmEvents, Recording } from '../recording/reader.ts';
import type { Samples } from '../recording/samples.ts';
import type { PhaseRecord } from '../recording/schema.ts';
import type { Count, Counts } from './counts.ts';
import { evidenceOf } from './evidence.ts';
import { thin } from './thin.ts';

/** Columns of equal length; null where a series could not be read, and once in each gap that a restart left. */
export interface ArmSeries {
  readonly build: string;
  readonly case: string;
  /** Seconds since the arm began. */
  readonly seconds: readonly number[];
  readonly registered: readonly (number | null)[];
  readonly expectedMin: readonly (number | null)[];
  readonly expectedMax: readonly (number | null)[];
  /** Any but 0: the counts cannot be trusted there. */
  readonly identityDrift: readonly (number | null)[];
  /** Resident memory, MiB. */
  readonly memoryMib: readonly (number | null)[];
  /** Requests that the client side has seen completed so far. */
  readonly requests: readonly number[];
  readonly phases: readonly {
    readonly phase: PhaseRecord['phase'];
    readonly from: number;
    readonly to: number;
  }[];
  /** Seconds at which the server's process ended or another one answered; the first 200. */
  readonly restarts: readonly number[];
  /** Samples before thinning. */
  readonly samples: number;
  /** One sentence where there is nothing to draw, or no registered sessions; else null. */
  readonly note: string | null;
}

/** At most this many samples of one arm are drawn: more than a picture has columns. */
const MOST_POINTS = 1200;
const MOST_RESTARTS = 200;

/** Made when they are first asked for, and then kept. */
export function seriesOnce(recording: Recording): () => readonly ArmSeries[] {
  let series: readonly ArmSeries[] | null = null;
  return () => (series ??= seriesOf(recording));
}

export function seriesOf(recording: Recording): ArmSeries[] {
  return recording.arms.map((events) => armSeries(events, recording));
}

/** Samples of one arm beside their counts. */
interface Drawing {
  readonly samples: Samples;
  readonly counts: Counts;
  /** The place in `counts` of each sample's count; -1 where it has none. */
  readonly countAt: Int32Array;
}

/** One drawn moment; null: nothing is known there. */
interface Point {
  readonly t: number;
  readonly count: Count | null;
  readonly rssBytes: number | null;
  readonly requests: number;
}

function armSeries(events: ArmEvents, recording: Recording): ArmSeries {
  const kind = recording.builds.find((build) => build.build === events.arm.build)?.kind ?? 'url';
  const { samples } = events;
  const { counts, restarts } = evidenceOf(events, recording.header, kind);
  const points = withGaps(pointsOf({ samples, counts, countAt: countPlaces(samples) }, restarts), restarts);
  const began = events.arm.t;
  const seconds = (t: number): number => (t - began) / 1000;
  return {
    build: events.arm.build,
    case: events.arm.case,
    seconds: points.map(({ t }) => seconds(t)),
    registered: points.map(({ count }) => count?.registered ?? null),
    expectedMin: points.map(({ count }) => count?.expected.min ?? null),
    expectedMax: points.map(({ count }) => count?.expected.max ?? null),
    identityDrift: points.map(({ count }) => count?.identityDrift ?? null),
    memoryMib: points.map(({ rssBytes }) => (rssBytes === null ? null : rssBytes / 1024 ** 2)),
    requests: points.map(({ requests }) => requests),
    phases: phasesOf(events, seconds),
    restarts: restarts.slice(0, MOST_RESTARTS).map(seconds),
    samples: samples.length,
    note: noteOf(events, counts),
  };
}

function countPlaces(samples: Samples): Int32Array {
  let counted = 0;
  const places = new Int32Array(samples.length);
  for (let i = 0; i < samples.length; i++) places[i] = samples.supportedAt(i) === true ? counted++ : -1;
  return places;
}

function pointsOf(drawing: Drawing, restarts: readonly number[]): Point[] {
  const { samples, counts, countAt } = drawing;
  const countOf = (place: number): number => countAt[place] ?? -1;
  // Beyond the end, a column has NaN.
  const curves = [
    (place: number) => counts.registeredAt(countOf(place)),
    (place: number) => counts.retentionDriftAt(countOf(place)),
    (place: number) => counts.identityDriftAt(countOf(place)),
    (place: number) => samples.rssBytesAt(place) ?? NaN,
  ];
  const places = thin(samples.length, curves, keptPlaces(samples, restarts), MOST_POINTS);
  return places.map((place) => ({
    t: samples.time(place),
    count: counts.at(countOf(place) < 0 ? Infinity : countOf(place)) ?? null,
    rssBytes: samples.rssBytesAt(place),
    requests: samples.requestsAt(place),
  }));
}

/** Settled samples, which are judged, and those beside a restart. */
function keptPlaces(samples: Samples, restarts: readonly number[]): number[] {
  const kept: number[] = [];
  let next = 0;
  for (let i = 0; i < samples.length; i++) {
    if (samples.settledAt(i)) kept.push(i);
    if (samples.time(i) < (restarts[next] ?? Infinity)) continue;
    kept.push(Math.max(0, i - 1), i);
    while ((restarts[next] ?? Infinity) <= samples.time(i)) next++;
  }
  return kept;
}

/** What lies between the last sample before a restart and the first after it is not known: no line joins them. */
function withGaps(points: readonly Point[], restarts: readonly number[]): Point[] {
  let next = 0;
  return points.flatMap((point, i) => {
    const before = points[i - 1];
    if ((restarts[next] ?? Infinity) > point.t) return [point];
    while ((restarts[next] ?? Infinity) <= point.t) next++;
    if (!before) return [point];
    const gap = { t: (before.t + point.t) / 2, count: null, rssBytes: null, requests: before.requests };
    return [gap, point];
  });
}

function phasesOf(events: ArmEvents, seconds: (t: number) => number): ArmSeries['phases'] {
  const end = events.end?.t ?? events.samples.at(-1)?.t ?? events.arm.t;
  const spans = events.phases.map((record, i) => ({
    phase: record.phase,
    from: seconds(record.t),
    to: seconds(events.phases[i + 1]?.t ?? end),
  }));
  return spans.filter((span) => span.phase !== 'end');
}

function noteOf({ samples, end }: ArmEvents, counts: Counts): string | null {
  const why = (reason: string | undefined): string =>
    reason === undefined ? '.' : `: ${reason.replace(/\.$/, '')}.`;
  if (samples.length === 0) return `No sample was taken${why(end?.reason)}`;
  if (counts.length > 0) return null;
  return `Registered sessions could not be read${why(samples.at(-1)?.reason)}`;
}
