/**
 * The samples of an arm, in columns: a million of them take tens of megabytes. Records are made anew when they are
 * looked at.
 */
import { NumberColumn, StringColumn } from './column.ts';
import { Rows } from './rows.ts';
import type { ManagerSample, SampleRecord } from './schema.ts';

/** Of `settled` and `supported`: absent (or no sessions), false, true. */
const ABSENT = 0;
const FALSE = 1;
const TRUE = 2;

const codeOf = (value: boolean | undefined): number => (value === undefined ? ABSENT : value ? TRUE : FALSE);
const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

export class Samples extends Rows<SampleRecord> {
  readonly arm: string;
  readonly #t = new NumberColumn();
  readonly #settled = new NumberColumn();
  readonly #supported = new NumberColumn();
  readonly #managers = new Managers();
  /** How many managers stand in this sample and in those before it. */
  readonly #managersEnd = new NumberColumn();
  /** NaN: no memory. */
  readonly #rssBytes = new NumberColumn();
  readonly #fds = new NumberColumn();
  readonly #children = new NumberColumn();
  readonly #limitBytes = new NumberColumn();
  readonly #requests = new NumberColumn();
  readonly #reason = new StringColumn();

  constructor(arm: string, records: Iterable<SampleRecord> = []) {
    super();
    this.arm = arm;
    for (const record of records) this.push(record);
  }

  get length(): number {
    return this.#t.length;
  }

  /** Takes over what the record says, but for its arm. */
  push(record: SampleRecord): void {
    const { sessions, memory } = record;
    this.#t.push(record.t);
    this.#settled.push(codeOf(record.settled));
    this.#supported.push(codeOf(sessions?.supported));
    if (sessions) for (const manager of sessions.managers) this.#managers.push(manager);
    this.#managersEnd.push(this.#managers.length);
    this.#rssBytes.push(memory?.rssBytes ?? NaN);
    this.#fds.push(memory?.fds ?? NaN);
    this.#children.push(memory?.children ?? NaN);
    this.#limitBytes.push(memory?.limitBytes ?? NaN);
    this.#requests.push(record.requests);
    this.#reason.push(record.reason);
  }

  /** When it was taken. These and the next give one field without making a record. */
  time(index: number): number {
    return this.#t.get(index);
  }

  settledAt(index: number): boolean {
    return this.#settled.get(index) === TRUE;
  }

  /** Whether the probe knew the SDK; null where it did not answer. */
  supportedAt(index: number): boolean | null {
    const supported = this.#supported.get(index);
    return supported === ABSENT ? null : supported === TRUE;
  }

  requestsAt(index: number): number {
    return this.#requests.get(index);
  }

  /** null where memory was not read. */
  rssBytesAt(index: number): number | null {
    return orNull(this.#rssBytes.get(index));
  }

  limitBytesAt(index: number): number | null {
    return orNull(this.#limitBytes.get(index));
  }

  managersAt(index: number): ManagerSample[] {
    const managers: ManagerSample[] = [];
    const end = this.#managersEnd.get(index);
    for (let i = index === 0 ? 0 : this.#managersEnd.get(index - 1); i < end; i++)
      managers.push(this.#managers.at(i));
    return managers;
  }

  // Fields that may be absent are put in afterwards: to spread them takes longer than all else here.
  protected row(index: number): SampleRecord {
    const record: SampleRecord = {
      type: 'sample',
      t: this.#t.get(index),
      arm: this.arm,
      sessions: this.#sessionsAt(index),
      memory: this.#memoryAt(index),
      requests: this.#requests.get(index),
    };
    const settled = this.#settled.get(index);
    if (settled !== ABSENT) record.settled = settled === TRUE;
    const reason = this.#reason.get(index);
    if (reason !== undefined) record.reason = reason;
    return record;
  }

  #sessionsAt(index: number): SampleRecord['sessions'] {
    const supported = this.supportedAt(index);
    return supported === null ? null : { supported, managers: this.managersAt(index) };
  }

  #memoryAt(index: number): SampleRecord['memory'] {
    const rssBytes = this.rssBytesAt(index);
    if (rssBytes === null) return null;
    const fds = orNull(this.#fds.get(index));
    return {
      rssBytes,
      fds,
      children: orNull(this.#children.get(index)),
      limitBytes: this.limitBytesAt(index),
    };
  }
}

/** The managers of all samples, one after the other. */
class Managers {
  readonly #of = {
    worker: new StringColumn(),
    manager: new StringColumn(),
    startedAt: new NumberColumn(),
    takenAt: new NumberColumn(),
    registered: new NumberColumn(),
    registeredAtStart: new NumberColumn(),
    registrations: new NumberColumn(),
    removals: new NumberColumn(),
    expirations: new NumberColumn(),
    rejections: new NumberColumn(),
    inFlight: new NumberColumn(),
    streamsOpen: new NumberColumn(),
    remnants: new NumberColumn(),
    oldestIdleSeconds: new NumberColumn(),
    idleTimeoutSeconds: new NumberColumn(),
    sessionLimit: new NumberColumn(),
    requestsCompleted: new NumberColumn(),
    /** As JSON. */
    unknown: new StringColumn(),
    // A field that the schema gains must not be lost here.
  } satisfies Record<keyof ManagerSample, NumberColumn | StringColumn>;

  get length(): number {
    return this.#of.registered.length;
  }

  push(manager: ManagerSample): void {
    const of = this.#of;
    of.worker.push(manager.worker);
    of.manager.push(manager.manager);
    of.startedAt.push(manager.startedAt);
    of.takenAt.push(manager.takenAt);
    of.registered.push(manager.registered);
    of.registeredAtStart.push(manager.registeredAtStart);
    of.registrations.push(manager.registrations);
    of.removals.push(manager.removals);
    of.expirations.push(manager.expirations);
    of.rejections.push(manager.rejections);
    of.inFlight.push(manager.inFlight);
    of.streamsOpen.push(manager.streamsOpen);
    of.remnants.push(manager.remnants);
    of.oldestIdleSeconds.push(manager.oldestIdleSeconds ?? NaN);
    of.idleTimeoutSeconds.push(manager.idleTimeoutSeconds ?? NaN);
    of.sessionLimit.push(manager.sessionLimit ?? NaN);
    of.requestsCompleted.push(manager.requestsCompleted);
    of.unknown.push(manager.unknown && JSON.stringify(manager.unknown));
  }

  at(index: number): ManagerSample {
    const of = this.#of;
    const manager: ManagerSample = {
      worker: of.worker.get(index) ?? '',
      manager: of.manager.get(index) ?? '',
      startedAt: of.startedAt.get(index),
      takenAt: of.takenAt.get(index),
      registered: of.registered.get(index),
      registeredAtStart: of.registeredAtStart.get(index),
      registrations: of.registrations.get(index),
      removals: of.removals.get(index),
      expirations: of.expirations.get(index),
      rejections: of.rejections.get(index),
      inFlight: of.inFlight.get(index),
      streamsOpen: of.streamsOpen.get(index),
      remnants: of.remnants.get(index),
      oldestIdleSeconds: orNull(of.oldestIdleSeconds.get(index)),
      idleTimeoutSeconds: orNull(of.idleTimeoutSeconds.get(index)),
      sessionLimit: orNull(of.sessionLimit.get(index)),
      requestsCompleted: of.requestsCompleted.get(index),
    };
    const unknown = of.unknown.get(index);
    if (unknown !== undefined) manager.unknown = JSON.parse(unknown) as string[];
    return manager;
  }
}
