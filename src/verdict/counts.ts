/** The counts of an arm, beside what was expected: as many as there are samples, so they stand in columns. */
import type { Interval } from '../ledger/ledger.ts';
import { NumberColumn, StringColumn } from '../recording/column.ts';
import { Rows } from '../recording/rows.ts';
import type { Samples } from '../recording/samples.ts';
import type { ManagerSample, PhaseRecord } from '../recording/schema.ts';
import { isOther } from './trust.ts';

/** A sample with registry counts, summed over workers and managers, beside what was expected. */
export interface Count {
  readonly t: number;
  readonly stage: string;
  readonly phase: PhaseRecord['phase'] | 'start';
  readonly settled: boolean;
  readonly registered: number;
  readonly remnants: number;
  readonly inFlight: number;
  readonly expected: Interval;
  /** Positive: kept too many. Negative: dropped what it should have kept. */
  readonly retentionDrift: number;
  /** The largest deviation of one manager; any but 0 means that the counts cannot be trusted. */
  readonly identityDrift: number;
}

type Stage = Pick<Count, 'stage' | 'phase'>;
type Sums = Pick<Count, 'registered' | 'remnants' | 'inFlight' | 'identityDrift'>;

export class Counts extends Rows<Count> {
  readonly #t = new NumberColumn();
  readonly #stage = new StringColumn();
  readonly #phase = new StringColumn();
  readonly #settled = new NumberColumn();
  readonly #registered = new NumberColumn();
  readonly #remnants = new NumberColumn();
  readonly #inFlight = new NumberColumn();
  readonly #expectedMin = new NumberColumn();
  readonly #expectedMax = new NumberColumn();
  readonly #identityDrift = new NumberColumn();
  readonly #settledPlaces: number[] = [];

  /** Times of samples to which another process answered than to the one before, ascending. */
  readonly restarts: number[] = [];

  get length(): number {
    return this.#t.length;
  }

  /** Those of settled samples. */
  get settled(): Rows<Count> {
    return this.pick(this.#settledPlaces);
  }

  push(
    t: number,
    stage: Stage,
    settled: boolean,
    sums: Sums,
    expectedMin: number,
    expectedMax: number,
  ): void {
    if (settled) this.#settledPlaces.push(this.length);
    this.#t.push(t);
    this.#stage.push(stage.stage);
    this.#phase.push(stage.phase);
    this.#settled.push(settled ? 1 : 0);
    this.#registered.push(sums.registered);
    this.#remnants.push(sums.remnants);
    this.#inFlight.push(sums.inFlight);
    this.#expectedMin.push(expectedMin);
    this.#expectedMax.push(expectedMax);
    this.#identityDrift.push(sums.identityDrift);
  }

  /** These give one number without making an object. */
  registeredAt(index: number): number {
    return this.#registered.get(index);
  }

  identityDriftAt(index: number): number {
    return this.#identityDrift.get(index);
  }

  retentionDriftAt(index: number): number {
    const registered = this.#registered.get(index);
    const above = Math.max(0, registered - this.#expectedMax.get(index));
    return above + Math.min(0, registered - this.#expectedMin.get(index));
  }

  protected row(index: number): Count {
    return {
      t: this.#t.get(index),
      stage: this.#stage.get(index) ?? '',
      phase: this.#phase.get(index) as Count['phase'],
      settled: this.#settled.get(index) === 1,
      registered: this.#registered.get(index),
      remnants: this.#remnants.get(index),
      inFlight: this.#inFlight.get(index),
      expected: { min: this.#expectedMin.get(index), max: this.#expectedMax.get(index) },
      retentionDrift: this.retentionDriftAt(index),
      identityDrift: this.identityDriftAt(index),
    };
  }
}

/** What the ledger expected at each of the counted samples. */
export interface Expected {
  readonly min: ArrayLike<number>;
  readonly max: ArrayLike<number>;
}

/**
 * @param places of the samples in which the probe counted
 * @param baseline sessions that are not of the case, and were registered before it
 */
export function countsOf(
  samples: Samples,
  places: ArrayLike<number>,
  phases: readonly PhaseRecord[],
  expected: Expected,
  baseline: number,
): Counts {
  const counts = new Counts();
  let before: readonly ManagerSample[] | null = null;
  for (let i = 0; i < places.length; i++) {
    const place = places[i] ?? 0;
    const t = samples.time(place);
    const managers = samples.managersAt(place);
    const sums = sumOf(managers);
    if (before && isOther(before, managers)) counts.restarts.push(t);
    before = managers;
    const [min, max] = [baseline + (expected.min[i] ?? 0), baseline + (expected.max[i] ?? 0)];
    counts.push(t, stageAt(phases, t), samples.settledAt(place), sums, min, max);
  }
  return counts;
}

const START: Stage = { stage: 'start', phase: 'start' };

const stageAt = (phases: readonly PhaseRecord[], t: number): Stage =>
  phases.findLast((record) => record.t <= t) ?? START;

function sumOf(managers: readonly ManagerSample[]): Sums {
  let [registered, remnants, inFlight, identityDrift] = [0, 0, 0, 0];
  for (const manager of managers) {
    registered += manager.registered;
    remnants += manager.remnants;
    inFlight += manager.inFlight;
    const drift = manager.registered - (manager.registeredAtStart + manager.registrations - manager.removals);
    if (Math.abs(drift) > Math.abs(identityDrift)) identityDrift = drift;
  }
  return { registered, remnants, inFlight, identityDrift };
}
