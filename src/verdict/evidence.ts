/**
 * The evidence of one arm, read from its recording: what was done, what was answered, what was counted and
 * what the ledger expected at each count.
 */
import {
  DEFAULT_IDLE_MAX_SECONDS,
  DEFAULT_LAG_MS,
  DEFAULT_SLACK_MS,
  type Interval,
  type LedgerCounts,
} from '../ledger/ledger.ts';
import { replay } from '../ledger/replay.ts';
import type { ArmEvents } from '../recording/reader.ts';
import { distrustOf, keepsNoSessions, misroutingOf } from './trust.ts';
import type {
  ArmRecord,
  BuildRecord,
  HeaderRecord,
  OpRecord,
  PhaseRecord,
  SampleRecord,
} from '../recording/schema.ts';

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

export interface Evidence {
  readonly events: ArmEvents;
  readonly arm: ArmRecord;
  readonly policy: HeaderRecord['policy'];
  /** null: none. undefined: not known. */
  readonly idleTimeoutSeconds: number | null | undefined;
  readonly sessionLimit: number | null | undefined;
  readonly counts: readonly Count[];
  /** Samples in which the probe answered and said that it cannot read this SDK. */
  readonly unsupportedSamples: number;
  readonly ledger: LedgerCounts;
  /** The last settled count of a stage, or null. */
  settled(stage: string): Count | null;
  /** Steps of one kind: of one stage, or of all stages that are the case's own. */
  ops(step: string, stage?: string): readonly OpRecord[];
  /** Milliseconds from a session's last activity to the beginning of this step. */
  idleBefore(op: OpRecord): number | null;
  /** Why the registry's counts cannot be judged, or null. */
  readonly distrust: string | null;
  /** Others' sessions that were registered before the case: as many kept ones may hide behind their end. */
  readonly strangers: number;
  /** Why nothing that HTTP shows can be judged: requests went to workers that did not know the session. */
  readonly misrouting: string | null;
  /** The server answers initialize without a session id. */
  readonly sessionless: boolean;
  /** Why the target is no longer there, or null. */
  readonly death: { readonly reason: string; readonly killed: boolean } | null;
  /** Why the arm was cut, or null where it was played to its end. */
  readonly cut: string | null;
}

/** Stages around a case: a first look, clean-up, the session afterwards. */
const ASIDE = new Set(['preflight', 'clean-up', 'survival']);

export function evidenceOf(events: ArmEvents, header: HeaderRecord, kind: BuildRecord['kind']): Evidence {
  const settings = knownSettings(events);
  const deaths = events.targets.filter((record) => record.event === 'died').map((record) => record.t);
  const idleSeconds = header.policy.idleMaxSeconds ?? settings.idleTimeoutSeconds ?? DEFAULT_IDLE_MAX_SECONDS;
  const counted = events.samples.filter((sample) => sample.sessions?.supported);
  const { expected, counts: ledger } = replay(
    events.ops,
    deaths,
    counted.map((sample) => sample.t),
    { idleSeconds, slackMs: DEFAULT_SLACK_MS, lagMs: DEFAULT_LAG_MS },
  );
  // What was registered before the case, without what the first look at a foreign server has left open itself.
  const baseline = counted[0] ? Math.max(0, sum(counted[0], 'registered') - (expected[0]?.max ?? 0)) : 0;
  const counts = counted.map((sample, i) =>
    countOf(sample, stageAt(events.phases, sample.t), expected[i] ?? { min: 0, max: 0 }, baseline),
  );
  const idleBefore = idleTimes(events.ops);
  return {
    events,
    arm: events.arm,
    policy: header.policy,
    ...settings,
    counts,
    unsupportedSamples: events.samples.filter((sample) => sample.sessions?.supported === false).length,
    ledger,
    settled: (stage) => counts.findLast((count) => count.settled && count.stage === stage) ?? null,
    ops: (step, stage) =>
      events.ops.filter(
        (op) => op.step === step && (stage === undefined ? !ASIDE.has(op.stage) : op.stage === stage),
      ),
    idleBefore: (op) => idleBefore.get(op) ?? null,
    distrust: distrustOf(events, counted, kind),
    strangers: kind === 'url' ? baseline : 0,
    misrouting: misroutingOf(events, (op) => idleBefore.get(op) ?? null),
    sessionless: keepsNoSessions(events),
    death: deathOf(events),
    cut: cutOf(events),
  };
}

type Counter = 'registered' | 'remnants' | 'inFlight';

const sum = (sample: SampleRecord, key: Counter): number =>
  (sample.sessions?.managers ?? []).reduce((total, manager) => total + manager[key], 0);

function countOf(
  sample: SampleRecord,
  stage: Pick<Count, 'stage' | 'phase'>,
  own: Interval,
  baseline: number,
): Count {
  const registered = sum(sample, 'registered');
  const expected = { min: baseline + own.min, max: baseline + own.max };
  const identity = (sample.sessions?.managers ?? []).map(
    (m) => m.registered - (m.registeredAtStart + m.registrations - m.removals),
  );
  return {
    t: sample.t,
    ...stage,
    settled: sample.settled ?? false,
    registered,
    remnants: sum(sample, 'remnants'),
    inFlight: sum(sample, 'inFlight'),
    expected,
    retentionDrift: Math.max(0, registered - expected.max) + Math.min(0, registered - expected.min),
    identityDrift: identity.reduce((worst, drift) => (Math.abs(drift) > Math.abs(worst) ? drift : worst), 0),
  };
}

function stageAt(phases: readonly PhaseRecord[], t: number): Pick<Count, 'stage' | 'phase'> {
  const current = phases.findLast((record) => record.t <= t);
  return current ? { stage: current.stage, phase: current.phase } : { stage: 'start', phase: 'start' };
}

/** What the probe reports goes before what was set or declared. */
function knownSettings(events: ArmEvents): Pick<Evidence, 'idleTimeoutSeconds' | 'sessionLimit'> {
  const managers = events.samples.findLast((s) => s.sessions?.supported && s.sessions.managers.length > 0)
    ?.sessions?.managers;
  if (!managers) {
    return {
      idleTimeoutSeconds: events.arm.settings.idleTimeoutSeconds,
      sessionLimit: events.arm.settings.maxSessions,
    };
  }
  const longest = (values: (number | null)[]): number | null =>
    values.some((value) => value === null) ? null : Math.max(...(values as number[]));
  return {
    idleTimeoutSeconds: longest(managers.map((manager) => manager.idleTimeoutSeconds)),
    sessionLimit: longest(managers.map((manager) => manager.sessionLimit)),
  };
}

/** For each step, how long its session had been quiet; null for a session's first. */
function idleTimes(ops: readonly OpRecord[]): Map<OpRecord, number | null> {
  const last = new Map<string, number>();
  const times = new Map<OpRecord, number | null>();
  for (const op of [...ops].sort((a, b) => a.t - b.t)) {
    if (op.outcome === 'local') continue;
    const before = last.get(op.session);
    times.set(op, before === undefined ? null : op.t - op.ms - before);
    last.set(op.session, op.t);
  }
  return times;
}

function deathOf(events: ArmEvents): Evidence['death'] {
  const record = events.targets.find((target) => target.event === 'died');
  if (!record) return null;
  // Signals that somebody else sends; a crash or an exit of its own is the server's doing.
  const killed = /\bSIG(KILL|TERM|INT|HUP)\b/.test(record.reason ?? '');
  return { reason: record.reason ?? 'the server is no longer there', killed };
}

function cutOf(events: ArmEvents): string | null {
  if (events.end?.outcome === 'measured') return null;
  return events.end?.reason ?? 'the run was cut before this case was played to its end';
}
