/**
 * Can an arm's counts be judged at all? Exact counts decide only if they are the counts of these sessions, of
 * this process, taken now.
 */
import { followsAtOnce, misrouted } from '../cases/obstacles.ts';
import type { ArmEvents } from '../recording/reader.ts';
import type { Sequence } from '../recording/rows.ts';
import type { BuildRecord, ManagerSample, OpRecord, SampleRecord } from '../recording/schema.ts';

/** Steps whose request may make a server register a session. */
const MAY_REGISTER = new Set(['open', 'refuse', 'reuse', 'reuse-echoed']);

type Sum = Record<'registrations' | 'removals' | 'registered', number>;

const managersOf = (sample: SampleRecord): readonly ManagerSample[] => sample.sessions?.managers ?? [];

function sumOf(sample: SampleRecord): Sum {
  const sum: Sum = { registrations: 0, removals: 0, registered: 0 };
  for (const manager of managersOf(sample)) {
    sum.registrations += manager.registrations;
    sum.removals += manager.removals;
    sum.registered += manager.registered;
  }
  return sum;
}

/**
 * Why the registry's counts cannot be judged, in one sentence; null where they can.
 * @param counted samples in which the probe counted
 * @param restarted whether another process answered one of them than the one before
 */
export function distrustOf(
  events: ArmEvents,
  counted: Sequence<SampleRecord>,
  kind: BuildRecord['kind'],
  restarted = isRestarted(counted),
): string | null {
  const first = counted.at(0);
  const last = counted.findLast((sample) => sample.settled) ?? counted.at(-1);
  if (!first || !last) return null;
  const ops = events.ops.filter((op) => op.t > first.t && op.t <= last.t);
  return (
    (restarted ? RESTARTED : null) ??
    stale(first, last, ops) ??
    unseen(first, last, ops) ??
    (kind === 'url' ? others(first, last, ops) : null)
  );
}

const RESTARTED =
  'The server was restarted, or a worker came or went, in the middle of the case: its counts begin anew there. Measure it while nothing restarts it.';

/** Another process answers, or its counters went back: what was registered before is not known any more. */
function isRestarted(counted: Iterable<SampleRecord>): boolean {
  let before: readonly ManagerSample[] | null = null;
  for (const sample of counted) {
    const managers = managersOf(sample);
    if (before && isOther(before, managers)) return true;
    before = managers;
  }
  return false;
}

/** A worker that makes its manager with its first request adds one; none may go or change. */
export function isOther(before: readonly ManagerSample[], after: readonly ManagerSample[]): boolean {
  const kept = before.every(
    ({ worker, startedAt }, i) => after[i]?.worker === worker && after[i].startedAt === startedAt,
  );
  return !kept || registrationsOf(after) < registrationsOf(before);
}

const registrationsOf = (managers: readonly ManagerSample[]): number =>
  managers.reduce((total, manager) => total + manager.registrations, 0);

function stale(first: SampleRecord, last: SampleRecord, ops: readonly OpRecord[]): string | null {
  if (first === last || ops.length === 0) return null;
  const taken = (sample: SampleRecord): number => Math.max(...managersOf(sample).map((m) => m.takenAt));
  if (managersOf(first).length === 0 || taken(last) > taken(first)) return null;
  return 'The probe answers with an old snapshot: its counts are not of now. Restart the server with the probe.';
}

/** Each session that was opened must have been registered where the probe looks. */
function unseen(first: SampleRecord, last: SampleRecord, ops: readonly OpRecord[]): string | null {
  const opened = ops.filter((op) => op.step === 'open' && op.outcome === 'ok' && op.sid === true).length;
  const seen = sumOf(last).registrations - sumOf(first).registrations;
  if (seen >= opened) return null;
  return `The probe saw ${seen} of ${opened} sessions being registered: it does not watch every worker of this server. Start all of them with the probe and the same folder.`;
}

/** On a server that other clients use too, their sessions can hide ours, or be taken for ours. */
function others(first: SampleRecord, last: SampleRecord, ops: readonly OpRecord[]): string | null {
  const [before, after] = [sumOf(first), sumOf(last)];
  const ours = ops.filter((op) => MAY_REGISTER.has(op.step) && op.outcome !== 'local').length;
  const registered = after.registrations - before.registrations;
  if (registered > ours)
    return `Other clients use this server: ${registered} sessions were registered, and at most ${ours} are ours. Measure it while nobody else does.`;
  if (after.removals - before.removals > registered)
    return 'Sessions of other clients ended meanwhile, and can hide as many that were kept. Measure it while nobody else uses the server.';
  return null;
}

/** Answers of 404 to a session that is open: another worker was asked than the one that knows it. */
export function misroutingOf(events: ArmEvents, idleBefore: (op: OpRecord) => number | null): string | null {
  // To look for idle times takes long, and hardly ever is there a reason.
  if (!events.ops.some((op) => op.status === 404 && followsAtOnce(op.step, 0))) return null;
  const opened = new Set(
    events.ops
      .filter((op) => op.step === 'open' && op.outcome === 'ok' && op.sid === true)
      .map((op) => op.session),
  );
  const asked = events.ops.filter(
    (op) => followsAtOnce(op.step, 0) && opened.has(op.session) && followsAtOnce(op.step, idleBefore(op)),
  );
  const lost = asked.filter((op) => op.status === 404);
  return lost.length === 0 ? null : misrouted(lost.length, asked.length);
}

/** A server that answers initialize without a session id keeps no sessions. */
export function keepsNoSessions(events: ArmEvents): boolean {
  const opened = events.ops.filter((op) => op.step === 'open' && op.outcome === 'ok');
  return opened.length > 0 && opened.every((op) => op.sid !== true);
}
