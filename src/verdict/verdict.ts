/**
 * The verdict: a pure function of the recording, so that it is the same live and offline.
 */
import { CASES } from '../cases/index.ts';
import { isWhole } from '../recording/carry.ts';
import type { ArmEvents, Recording } from '../recording/reader.ts';
import type { BuildRecord } from '../recording/schema.ts';
import { allowancesOf, decides, verdictOf } from './allowances.ts';
import { comparisonOf, comparisonVerdict } from './compare.ts';
import { claimOf, CLAIMS } from './claims/index.ts';
import { evidenceOf, type Count, type Evidence } from './evidence.ts';
import { unmeasured, type Finding } from './finding.ts';
import { memoryOf } from './memory.ts';
import { REPORT_SCHEMA, type BuildReport, type CaseReport, type ClaimReport, type Report } from './schema.ts';
import { judgeSessionless } from './sessionless.ts';
import { timelineOf } from './timeline.ts';

export function verdict(recording: Recording): Report {
  const { header } = recording;
  const builds = recording.builds.map((build) => buildReport(build, recording));
  const comparison = comparisonOf(recording, builds);
  // A baseline is what the candidate is held against, and not judged itself.
  const judged = comparison ? builds.filter((build) => build.name === comparison.candidate) : builds;
  const allowances = allowancesOf(recording, judged);
  const whole = isWhole(recording);
  return {
    schema: REPORT_SCHEMA,
    tool: header.tool,
    host: header.host,
    startedAt: header.startedAt,
    complete: whole,
    notices: noticesOf(recording),
    builds,
    allowances,
    comparison,
    timeline: timelineOf(recording, builds),
    verdict: comparison
      ? comparisonVerdict(comparison, allowances, whole)
      : verdictOf(builds, allowances, whole && areKnown(builds)),
  };
}

/** A case that this release does not know was not judged whole. */
const areKnown = (builds: readonly BuildReport[]): boolean =>
  builds.every((build) => build.cases.every(({ id }) => CASES.some((definition) => definition.id === id)));

function noticesOf(recording: Recording): Report['notices'] {
  const byArm = new Map(recording.arms.map((events) => [events.arm.arm, events.arm]));
  const notices: Report['notices'] = recording.notices.map((notice) => {
    const arm = notice.arm === undefined ? undefined : byArm.get(notice.arm);
    return { build: arm?.build ?? null, case: arm?.case ?? null, text: notice.text };
  });
  for (const text of recording.damage) notices.push({ build: null, case: null, text: `recording: ${text}` });
  if (!recording.end)
    notices.push({
      build: null,
      case: null,
      text: 'The recording was cut: the run did not come to its end.',
    });
  return notices;
}

function buildReport(build: BuildRecord, recording: Recording): BuildReport {
  return {
    name: build.build,
    kind: build.kind,
    sdk: build.sdk,
    version: build.version,
    config: build.config,
    packages: build.packages,
    cases: recording.arms
      .filter((events) => events.arm.build === build.build)
      .map((events) => caseReport(events, recording))
      .sort((a, b) => orderOf(a.id) - orderOf(b.id)),
  };
}

const SURVIVAL = 'survival.serves-after';
const IDENTITY = 'identity.holds';

/** Where requests miss their session, neither a pass nor a failure that HTTP shows means what it says. */
function isMisled(id: string, finding: Finding, evidence: Evidence): boolean {
  if (id === IDENTITY) return false;
  return id !== SURVIVAL || (finding.status === 'fail' && evidence.death === null);
}

const orderOf = (id: string): number => CASES.findIndex((known) => known.id === id);

function caseReport(events: ArmEvents, recording: Recording): CaseReport {
  const kind = recording.builds.find((build) => build.build === events.arm.build)?.kind ?? 'url';
  const evidence = evidenceOf(events, recording.header, kind);
  const claims = claimsOf(evidence, recording.header.allow ?? {});
  const { arm } = events;
  return {
    id: arm.case,
    title: CASES.find((known) => known.id === arm.case)?.title ?? arm.case,
    ...statusOf(claims, events),
    settings: settingsOf(evidence),
    size: arm.size,
    claims,
    ledger: evidence.ledger,
    sessions: sessionsOf(evidence),
    memory: memoryOf(evidence),
    requests: requestsOf(events),
  };
}

function claimsOf(evidence: Evidence, allow: Readonly<Record<string, string>>): ClaimReport[] {
  const { arm } = evidence;
  const asked = arm.promised.map((id) => claimReport(id, judge(id, evidence), true));
  const notAsked = arm.notPromised.map(({ claim, reason }) => claimReport(claim, unmeasured(reason), false));
  const order = CASES.find((known) => known.id === arm.case)?.claims ?? [];
  return [...asked, ...notAsked]
    .map((claim) => ({ ...claim, allowed: allowedFailure(claim, allow) }))
    .sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
}

function judge(id: string, evidence: Evidence): Finding {
  if (!CLAIMS.has(id)) return unmeasured('This release does not know the claim.');
  const claim = claimOf(id);
  const sessionless = evidence.sessionless && id !== SURVIVAL;
  const finding = sessionless ? judgeSessionless(claim, evidence) : claim.judge(evidence);
  if (finding.withdrawn) return finding;
  if (evidence.misrouting !== null && finding.status !== 'unmeasured' && isMisled(id, finding, evidence))
    return unmeasured(evidence.misrouting);
  // An arm that was cut has one reason for everything that it does not tell.
  return finding.status === 'unmeasured' && evidence.cut !== null
    ? unmeasured(sentence(evidence.cut))
    : finding;
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const allowedFailure = (
  claim: Pick<ClaimReport, 'id' | 'status'>,
  allow: Readonly<Record<string, string>>,
) => (claim.status === 'fail' && Object.hasOwn(allow, claim.id) ? (allow[claim.id] ?? null) : null);

function claimReport(id: string, finding: Finding, promised: boolean): Omit<ClaimReport, 'allowed'> {
  const { status, expected, observed, reason } = finding;
  const says = CLAIMS.get(id)?.says ?? id;
  return { id, says, status, promised: promised && !finding.withdrawn, expected, observed, reason };
}

function statusOf(claims: readonly ClaimReport[], events: ArmEvents): Pick<CaseReport, 'status' | 'reason'> {
  const failed = claims.find(decides) ?? claims.find((claim) => claim.promised && claim.status === 'fail');
  if (failed) return { status: 'fail', reason: failed.reason };
  const promised = claims.filter((claim) => claim.promised);
  const open =
    promised.find((claim) => claim.status === 'unmeasured') ??
    (promised.length === 0 ? claims[0] : undefined);
  if (open) return { status: 'unmeasured', reason: open.reason };
  if (events.end?.outcome !== 'measured')
    return { status: 'unmeasured', reason: events.end?.reason ?? 'The case was not played to its end.' };
  return { status: 'pass', reason: '' };
}

function settingsOf(evidence: Evidence): CaseReport['settings'] {
  const { idleTimeoutSeconds, sessionLimit } = evidence;
  return {
    ...(idleTimeoutSeconds !== undefined && { idleTimeoutSeconds }),
    ...(sessionLimit !== undefined && { maxSessions: sessionLimit }),
  };
}

/** The count that the case is shown by: its own judging point, or the worst of the settled ones. */
function sessionsOf(evidence: Evidence): CaseReport['sessions'] {
  const settled = evidence.counts.filter((count) => count.settled);
  const shown =
    evidence.settled('expiry') ?? evidence.settled('settle') ?? settled.at(-1) ?? evidence.counts.at(-1);
  if (!shown) return null;
  const widest = (worst: Count, count: Count): Count =>
    Math.abs(count.identityDrift) > Math.abs(worst.identityDrift) ? count : worst;
  return {
    registered: shown.registered,
    expected: shown.expected,
    retentionDrift: shown.retentionDrift,
    identityDrift: evidence.counts.reduce(widest, shown).identityDrift,
    remnants: shown.remnants,
    samples: evidence.counts.length,
    detectionFloor: evidence.events.ops.filter(
      (op) => (op.step === 'open' || op.step === 'refuse') && op.t <= shown.t,
    ).length,
  };
}

function requestsOf(events: ArmEvents): CaseReport['requests'] {
  const sent = events.ops.filter((op) => op.status !== undefined);
  const load = events.phases.find((record) => record.phase === 'load');
  const next = load && events.phases.find((record) => record.t > load.t);
  const seconds = load && next ? (next.t - load.t) / 1000 : 0;
  const within = sent.filter((op) => load && next && op.t >= load.t && op.t <= next.t).length;
  return {
    completed: sent.length + events.floods.reduce((total, flood) => total + flood.sent - flood.broken, 0),
    broken: events.ops.filter((op) => op.outcome === 'broken').length,
    perSecond: seconds > 0 ? Math.round((within / seconds) * 10) / 10 : null,
  };
}
