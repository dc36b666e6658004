/**
 * The evidence of one arm, read from its recording: what was done, what was answered, what was counted and
 * what the ledger expected at each count.
 */
import {
  DEFAULT_IDLE_MAX_SECONDS,
  DEFAULT_LAG_MS,
  DEFAULT_SLACK_MS,
  type LedgerCounts,
} from '../ledger/ledger.ts';
import { replayTo } from '../ledger/replay.ts';
import type { ArmEvents } from '../recording/reader.ts';
import { countsOf, type Count, type Counts } from './counts.ts';
import { distrustOf, keepsNoSessions, misroutingOf } from './trust.ts';
import type { ArmRecord, BuildRecord, HeaderRecord, OpRecord } from '../recording/schema.ts';

export type { Count } from './counts.ts';

export interface Evidence {
  readonly events: ArmEvents;
  readonly arm: ArmRecord;
  readonly policy: HeaderRecord['policy'];
  /** null: none. undefined: not known. */
  readonly idleTimeoutSeconds: number | null | undefined;
  readonly sessionLimit: number | null | undefined;
  readonly counts: Counts;
  /** Samples in which the probe answered and said that it cannot read this SDK. */
  readonly unsupportedSamples: number;
  readonly ledger: LedgerCounts;
  /** The last settled count of a stage, or null. */
  settled(stage: string): Count | null;
  /** Steps of one kind: of one stage, or of all stages that are the case's own. */
  ops(step: string, stage?: string): readonly OpRecord[];
  /** Milliseconds from a session's last activity to the beginning of this step. */
  idleBefore(op: OpRecord): number | null;
  /** The same from when the session's last request was sent: some servers count idleness from its arrival. */
  unaskedBefore(op: OpRecord): number | null;
  /** Why the registry's counts cannot be judged, or null. */
  readonly distrust: string | null;
  /** Others' sessions that were registered before the case: as many kept ones may hide behind their end. */
  readonly strangers: number;
  /** Why nothing that HTTP shows can be judged: requests went to workers that did not know the session. */
  readonly misrouting: string | null;
  /** The server answers initialize without a session id. */
  readonly sessionless: boolean;
  /** Times at which the server's process ended or another one answered, ascending. */
  readonly restarts: readonly number[];
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
  const { counted, counts, baseline, ledger, unsupportedSamples } = countedOf(events, deaths, idleSeconds);
  let times: ReturnType<typeof idleTimes> | null = null;
  const before = (op: OpRecord): Before | null => (times ??= idleTimes(events.ops)).get(op) ?? null;
  const idleBefore = (op: OpRecord): number | null => before(op)?.idle ?? null;
  return {
    events,
    arm: events.arm,
    policy: header.policy,
    ...settings,
    counts,
    unsupportedSamples,
    ledger,
    settled: (stage) => counts.settled.findLast((count) => count.stage === stage) ?? null,
    ops: (step, stage) =>
      events.ops.filter(
        (op) => op.step === step && (stage === undefined ? !ASIDE.has(op.stage) : op.stage === stage),
      ),
    idleBefore,
    unaskedBefore: (op) => before(op)?.unasked ?? null,
    distrust: distrustOf(events, counted, kind, counts.restarts.length > 0),
    strangers: kind === 'url' ? baseline : 0,
    misrouting: misroutingOf(events, idleBefore),
    sessionless: keepsNoSessions(events),
    restarts: [...deaths, ...counts.restarts].sort((a, b) => a - b),
    death: deathOf(events),
    cut: cutOf(events),
  };
}

/** The samples in which the probe counted, and what follows from them and the ledger. */
function countedOf(events: ArmEvents, deaths: readonly number[], idleSeconds: number) {
  const { samples } = events;
  const places: number[] = [];
  const times: number[] = [];
  let unsupportedSamples = 0;
  for (let i = 0; i < samples.length; i++) {
    const supported = samples.supportedAt(i);
    if (supported === false) unsupportedSamples++;
    if (supported !== true) continue;
    places.push(i);
    times.push(samples.time(i));
  }
  const expected = { min: new Float64Array(places.length), max: new Float64Array(places.length) };
  const policy = { idleSeconds, slackMs: DEFAULT_SLACK_MS, lagMs: DEFAULT_LAG_MS };
  const ledger = replayTo(events.ops, deaths, times, policy, ({ min, max }, i) => {
    expected.min[i] = min;
    expected.max[i] = max;
  });
  const [first] = places;
  const found = first === undefined ? [] : samples.managersAt(first);
  const registered = found.reduce((total, manager) => total + manager.registered, 0);
  // What was registered before the case, without what the first look at a foreign server has left open itself.
  const baseline = Math.max(0, registered - (expected.max[0] ?? 0));
  const counts = countsOf(samples, places, events.phases, expected, baseline);
  const counted = places.length === samples.length ? samples : samples.pick(places);
  return { counted, counts, baseline, ledger, unsupportedSamples };
}

/** What the probe reports goes before what was set or declared. */
function knownSettings(events: ArmEvents): Pick<Evidence, 'idleTimeoutSeconds' | 'sessionLimit'> {
  const managers = events.samples.findLast((s) => s.sessions?.supported && s.sessions.managers.length > 0)
    ?.sessions?.managers;
  const { idleTimeoutSeconds, maxSessions } = events.arm.settings;
  const reported = (field: 'idleTimeoutSeconds' | 'sessionLimit', set: number | null | undefined) => {
    if (!managers || managers.some((manager) => manager.unknown?.includes(field))) return set;
    const values = managers.map((manager) => manager[field]);
    return values.some((value) => value === null) ? null : Math.max(...(values as number[]));
  };
  return {
    idleTimeoutSeconds: reported('idleTimeoutSeconds', idleTimeoutSeconds),
    sessionLimit: reported('sessionLimit', maxSessions),
  };
}

/** For each step, how long its session had been quiet; null for a session's first. */
function idleTimes(ops: readonly OpRecord[]): Map<OpRecord, Before> {
  const last = new Map<string, OpRecord>();
  const times = new Map<OpRecord, Before>();
  for (const op of [...ops].sort((a, b) => a.t - b.t)) {
    if (op.outcome === 'local') continue;
    const before = last.get(op.session);
    if (before !== undefined) {
      const idle = op.t - op.ms - before.t;
      times.set(op, { idle, unasked: idle + before.ms });
    }
    last.set(op.session, op);
  }
  return times;
}

/** Milliseconds from the answer to a session's last request, and from when that was sent. */
interface Before {
  readonly idle: number;
  readonly unasked: number;
}

function deathOf(events: ArmEvents): Evidence['death'] {
  const record = events.targets.find((target) => target.event === 'died');
  if (!record) return null;
  const reason = record.reason ?? 'the server is no longer there';
  // The server's own last words follow, and may name a signal that it never got.
  const [how = ''] = reason.split(' Its log ');
  // Signals that somebody else sends; a crash or an exit of its own is the server's doing.
  return { reason, killed: /\bwas ended by SIG(KILL|TERM|INT|HUP)\b/.test(how) };
}

function cutOf(events: ArmEvents): string | null {
  if (events.end?.outcome === 'measured') return null;
  return events.end?.reason ?? 'the run was cut before this case was played to its end';
}
