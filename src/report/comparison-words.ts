/** The sentences of a comparison, which every format shares. */
import type {
  AllowanceReport,
  ChangeReport,
  ComparisonReport,
  PerformanceReport,
  Report,
} from '../verdict/schema.ts';
import { claimsWhere, counted, staleText, thousands, verdictOfClaims } from './words.ts';

/** What one change means for a reader. `allowed`: it regressed, and the configuration allows that. */
export type ChangeKind = 'regressed' | 'allowed' | 'open' | 'fixed' | 'failing' | 'same' | 'untold';

export function kindOf(change: ChangeReport): ChangeKind {
  if (change.change === 'regressed') return change.allowed === null ? 'regressed' : 'allowed';
  if (change.open) return 'open';
  if (change.change === 'unmeasured') return 'untold';
  if (change.change === 'same') return change.candidate.status === 'fail' ? 'failing' : 'same';
  return 'fixed';
}

/** `failing` claims fail in both builds, `untold` ones are known of one build at most. */
const SHOWN: readonly ChangeKind[] = ['regressed', 'open', 'allowed', 'fixed', 'failing', 'untold'];

/** What a reader must see of a comparison, worst first; claims that pass on both sides are only counted. */
export const shownChanges = ({ changes }: ComparisonReport): ChangeReport[] =>
  SHOWN.flatMap((kind) => changes.filter((one) => kindOf(one) === kind));

export const KIND_WORDS: Record<ChangeKind, string> = {
  regressed: 'regressed',
  allowed: 'regressed, allowed',
  open: 'undecided',
  fixed: 'fixed',
  failing: 'fails in both',
  same: 'the same',
  untold: 'not known',
};

/** `delete.accepted`, and the case besides where the claim is one of every case. */
export const changeName = ({ claim, case: id }: ChangeReport): string =>
  claim.startsWith(`${id}.`) ? claim : `${claim} (${id})`;

/** `0 registered`, or in words why nothing was seen. */
export function sideText({ status, observed }: ChangeReport['baseline']): string {
  if (status === 'unasked') return 'not asked';
  if (status === 'unmeasured') return 'not measured';
  return observed === '' ? status : observed;
}

/** Its reason, and why it is allowed. */
export const changeReason = ({ reason, allowed }: ChangeReport): string =>
  allowed === null ? reason : `${reason} Allowed: ${allowed}`;

/** The verdict in one or two sentences, whatever the report is of. */
export function verdictText(report: Report): string {
  const sentence = report.comparison
    ? verdictOfComparison(report, report.comparison)
    : verdictOfClaims(report);
  return report.complete ? sentence : `${sentence} The run was not played to its end.`;
}

function verdictOfComparison(report: Report, comparison: ComparisonReport): string {
  const stale = report.allowances.filter((one) => one.stale).length;
  if (report.verdict === 'pass') return 'Nothing got worse.';
  if (report.verdict === 'fail') {
    const worse = worsened(comparison);
    if (worse.length > 0)
      return `The candidate got worse: ${[...worse, ...(stale > 0 ? [staleText(stale)] : [])].join('; ')}.`;
    return `No claim regressed, but ${staleText(stale)}: the failure that it allows does not happen.`;
  }
  return `Undecided: ${undecided(report, comparison)}.`;
}

function worsened(comparison: ComparisonReport): string[] {
  const regressed = comparison.changes.filter((one) => kindOf(one) === 'regressed').length;
  const slower = deciding(comparison.performance, 'worse');
  return [
    ...(regressed > 0 ? [`${counted(regressed, 'claim', 'claims')} regressed`] : []),
    ...slower.map((one) => `${one.title}: ${changeText(one)}`),
  ];
}

function undecided(report: Report, comparison: ComparisonReport): string {
  const open = comparison.changes.filter((one) => one.open).length;
  const slow = deciding(comparison.performance, 'undecided');
  const reasons = [
    ...(open > 0 ? [`of ${counted(open, 'claim', 'claims')} it cannot be told whether it got worse`] : []),
    ...slowReasons(slow, comparison.performance?.obstacle ?? null),
  ];
  if (reasons.length > 0) return reasons.join('; ');
  return report.complete
    ? 'there is nothing that both builds were asked'
    : 'what is there shows nothing that got worse';
}

/** What hinders all measures is said once: more time would not help. */
function slowReasons(slow: readonly Measure[], obstacle: string | null): string[] {
  if (slow.length > 0 && obstacle !== null) return [`speed cannot be told: ${obstacle.replace(/\.$/, '')}`];
  return slow.map((one) => `${one.title} cannot be told within the time given`);
}

/** Measures of speed that count for the verdict, with this decision. */
const deciding = (
  performance: PerformanceReport | null,
  decision: Measure['decision'],
): readonly Measure[] =>
  performance?.decides === true
    ? performance.measures.filter((one) => one.mayFail && one.decision === decision)
    : [];

/** `1 regressed, 8 fixed, 2 undecided, 30 the same`. */
export function countsText({ changes }: ComparisonReport): string {
  const kinds: readonly ChangeKind[] = ['regressed', 'allowed', 'open', 'fixed', 'failing', 'untold', 'same'];
  const parts = kinds.flatMap((kind) => {
    const count = changes.filter((one) => kindOf(one) === kind).length;
    return count === 0 ? [] : [`${thousands(count)} ${COUNTED[kind]}`];
  });
  return parts.length === 0 ? 'No claims were compared.' : `Claims: ${parts.join(', ')}.`;
}

const COUNTED: Record<ChangeKind, string> = {
  ...KIND_WORDS,
  allowed: 'regressed but allowed',
  failing: 'failing in both',
  same: 'passing in both',
};

/** Where a side was measured elsewhere: one sentence a side. */
export function originTexts({ origins }: ComparisonReport): string[] {
  return (['baseline', 'candidate'] as const).flatMap((side) => {
    const origin = origins[side];
    if (origin === null) return [];
    const { tool, host, startedAt, seed } = origin;
    return [
      `The ${side} is a recording of ${startedAt} by ${tool.name} ${tool.version}, seed ${seed}, on ${host.os} ${host.arch} with ${counted(host.cpus, 'core', 'cores')}.`,
    ];
  });
}

export type Measure = PerformanceReport['measures'][number];

/** What was found out about a measure, in a reader's words. */
export const DECISION_WORDS: Record<Measure['decision'], string> = {
  worse: 'worse',
  better: 'better',
  same: 'no difference worth reporting',
  undecided: 'undecided',
  shown: 'shown, never decides',
};

export function figure(value: number | null, unit: string): string {
  if (value === null) return '–';
  const digits = Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
  return `${thousands(Number(digits))} ${unit}`;
}

const percent = (ratio: number): string => `${ratio > 0 ? '+' : ''}${(ratio * 100).toFixed(1)}`;

/** `+20.0 % (+17.0 to +24.0)`: the candidate against the baseline, 99 % interval. */
export const changeText = ({ change }: Measure): string =>
  change === null ? '–' : `${percent(change.estimate)} % (${percent(change.low)} to ${percent(change.high)})`;

/** How the figures were got and what they decide. */
export function performanceText({ blocks, smallestEffect, decides, obstacle }: PerformanceReport): string {
  const effect = `${(smallestEffect * 100).toFixed(0)} %`;
  const how = `Medians of ${counted(blocks, 'interleaved block', 'interleaved blocks')} of both builds; changes below ${effect} are not reported.`;
  const what = decides ? 'Worse speed fails this check.' : 'Speed does not decide this check.';
  return [how, what, ...(obstacle === null ? [] : [obstacle])].join(' ');
}

/** used: a failure needs it. unused: no claim that it names was measured, so that it is not known. */
export function allowanceState(
  report: Report,
  { claim, stale }: AllowanceReport,
): 'used' | 'stale' | 'unused' {
  if (stale) return 'stale';
  const judged = report.comparison?.candidate;
  const builds = report.builds.filter((build) => judged === undefined || build.name === judged);
  const places = claimsWhere({ ...report, builds }, (one) => one.id === claim && one.allowed !== null);
  return places.length > 0 ? 'used' : 'unused';
}

export const ALLOWANCE_WORDS = {
  used: 'its failure is allowed',
  stale: 'stale: it fails nowhere, so remove it from the configuration',
  unused: 'not needed here, as far as the claim was measured',
} as const;
