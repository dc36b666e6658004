/**
 * What became of each claim from the baseline to the candidate: a pure function of both builds' findings.
 * A count that differs is a change and not a measure of chance: the same sessions were played against both.
 */
import type { Recording } from '../recording/reader.ts';
import { decides } from './allowances.ts';
import { CLAIMS } from './claims/index.ts';
import { performanceOf } from './performance.ts';
import type {
  AllowanceReport,
  BuildReport,
  CaseReport,
  ChangeReport,
  ClaimReport,
  ComparisonReport,
  Report,
} from './schema.ts';

type Side = ChangeReport['baseline'];
type Status = Side['status'];
type Judgement = Pick<ChangeReport, 'change' | 'open' | 'reason'>;

/** @returns null where the recording compares nothing, or lacks one of the two builds */
export function comparisonOf(recording: Recording, builds: readonly BuildReport[]): ComparisonReport | null {
  const { comparison } = recording;
  if (!comparison) return null;
  const baseline = builds.find((build) => build.name === comparison.baseline);
  const candidate = builds.find((build) => build.name === comparison.candidate);
  if (!baseline || !candidate) return null;
  return {
    baseline: baseline.name,
    candidate: candidate.name,
    origins: comparison.origins,
    changes: changesOf(baseline, candidate),
    differences: differencesOf(baseline, candidate),
    performance:
      comparison.performance &&
      performanceOf(
        recording.blocks,
        comparison.performance,
        comparison.baseline,
        comparison.candidate,
        comparison.origins,
      ),
  };
}

/** fail: something got worse. inconclusive: that cannot be told. */
export function comparisonVerdict(
  comparison: ComparisonReport,
  allowances: readonly AllowanceReport[],
  whole: boolean,
): Report['verdict'] {
  const { changes, performance } = comparison;
  const speed = performance?.decides === true ? performance.measures.filter((one) => one.mayFail) : [];
  const worse = changes.some((one) => one.change === 'regressed' && one.allowed === null);
  if (worse || allowances.some((one) => one.stale) || speed.some((one) => one.decision === 'worse'))
    return 'fail';
  const told = changes.some((one) => one.candidate.status !== 'unasked');
  if (!whole || !told || changes.some((one) => one.open)) return 'inconclusive';
  return speed.some((one) => one.decision === 'undecided') ? 'inconclusive' : 'pass';
}

function changesOf(baseline: BuildReport, candidate: BuildReport): ChangeReport[] {
  const ids = [...new Set([...candidate.cases, ...baseline.cases].map((played) => played.id))];
  return ids.flatMap((id) => {
    const before = baseline.cases.find((played) => played.id === id);
    const after = candidate.cases.find((played) => played.id === id);
    const claims = [
      ...new Set([...(after?.claims ?? []), ...(before?.claims ?? [])].map((claim) => claim.id)),
    ];
    const changes = claims
      .map((claim) => changeOf(id, claim, before, after))
      .filter((one) => one.baseline.status !== 'unasked' || one.candidate.status !== 'unasked');
    return withWorsening(changes, before, after);
  });
}

function changeOf(
  id: string,
  claim: string,
  before: CaseReport | undefined,
  after: CaseReport | undefined,
): ChangeReport {
  const was = before?.claims.find((one) => one.id === claim);
  const is = after?.claims.find((one) => one.id === claim);
  return {
    case: id,
    claim,
    says: CLAIMS.get(claim)?.says ?? claim,
    ...judge(was, is),
    baseline: sideOf(was),
    candidate: sideOf(is),
    allowed: is?.allowed ?? null,
  };
}

const statusOf = (claim: ClaimReport | undefined): Status =>
  claim?.promised === true ? claim.status : 'unasked';

const sideOf = (claim: ClaimReport | undefined): Side => ({
  status: statusOf(claim),
  observed: claim?.observed ?? '',
});

function judge(was: ClaimReport | undefined, is: ClaimReport | undefined): Judgement {
  const [before, after] = [statusOf(was), statusOf(is)];
  if (after === 'fail' && before === 'pass') return told('regressed', is?.reason ?? '');
  if (after === 'pass' && before === 'fail') return told('fixed', `It failed: ${was?.reason ?? ''}`);
  if (after === before && (after === 'pass' || after === 'fail')) return told('same', is?.reason ?? '');
  return untold(before, after, was, is);
}

const told = (change: ChangeReport['change'], reason: string): Judgement => ({ change, open: false, reason });

/** At least one side has no finding. What passes now cannot have got worse. */
function untold(
  before: Status,
  after: Status,
  was: ClaimReport | undefined,
  is: ClaimReport | undefined,
): Judgement {
  const nothing = (open: boolean, reason: string): Judgement => ({ change: 'unmeasured', open, reason });
  const why = (claim: ClaimReport | undefined): string =>
    claim === undefined ? 'the case was not played.' : claim.reason;
  if (after === 'pass') return nothing(false, `It passes; of the baseline it is not known: ${why(was)}`);
  if (after === 'unmeasured') return nothing(true, why(is));
  if (after === 'fail')
    return nothing(
      is !== undefined && decides(is),
      `It fails (${is?.reason ?? ''}), and whether it did before is not known: ${why(was)}`,
    );
  // The candidate cannot be asked: that may hide what the baseline was seen to do right.
  return nothing(before === 'pass', `The candidate cannot be asked: ${why(is)}`);
}

/**
 * Where a claim fails on both, more sessions kept (or dropped) are a regression all the same. The two counts are
 * compared like counts of rare events, so that a leak that hits by chance is not taken for a worse one.
 */
function withWorsening(
  changes: ChangeReport[],
  before: CaseReport | undefined,
  after: CaseReport | undefined,
): ChangeReport[] {
  const at = changes.findIndex((one) => one.change === 'same' && one.candidate.status === 'fail');
  const [was, is] = [before?.sessions, after?.sessions];
  const change = changes[at];
  if (!change || !was || !is || !sameSize(before, after)) return changes;
  const [kept, keeps] = [Math.abs(was.retentionDrift), Math.abs(is.retentionDrift)];
  if (keeps - kept <= LEAST_DEVIATIONS * Math.sqrt(keeps + kept)) return changes;
  const what = is.retentionDrift > 0 ? 'keeps' : 'drops';
  const reason = `Both fail, and the candidate ${what} ${keeps} sessions where the baseline has ${kept}.`;
  return changes.with(at, { ...change, change: 'regressed', reason });
}

const LEAST_DEVIATIONS = 4;

const sameSize = (before: CaseReport | undefined, after: CaseReport | undefined): boolean =>
  before?.size.sessions === after?.size.sessions && before?.size.warmUp === after?.size.warmUp;

function differencesOf(baseline: BuildReport, candidate: BuildReport): ComparisonReport['differences'] {
  const [was, is] = [factsOf(baseline), factsOf(candidate)];
  // Of a server that only its URL is known of, nothing else can be said to differ.
  const known = [...new Set([...was.keys(), ...is.keys()])].sort();
  return known
    .map((name) => ({ name, baseline: was.get(name) ?? null, candidate: is.get(name) ?? null }))
    .filter((one) => one.baseline !== one.candidate);
}

/** Packages, configuration, and how much was played: what both sides should have alike. */
function factsOf(build: BuildReport): Map<string, string> {
  const facts = new Map<string, string>([['kind', build.kind]]);
  for (const [name, value] of Object.entries({ ...build.packages, ...build.config }))
    facts.set(name, String(value));
  for (const played of build.cases)
    facts.set(`sessions (${played.id})`, `${played.size.warmUp} + ${played.size.sessions}`);
  return facts;
}

/** Failures that both builds have: not this comparison's doing, and still failures. */
export const stillFailing = (comparison: ComparisonReport): readonly ChangeReport[] =>
  comparison.changes.filter((one) => one.change === 'same' && one.candidate.status === 'fail');
