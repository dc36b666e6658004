/**
 * A comparison as test suites. The builds' own claims are left out: each stands among the changes with what both sides
 * showed, and there what the baseline fails as well is not judged.
 */
import type { ChangeReport, ComparisonReport, PerformanceReport } from '../verdict/schema.ts';
import {
  changeText,
  DECISION_WORDS,
  figure,
  kindOf,
  performanceText,
  sideText,
  type Measure,
} from './comparison-words.ts';
import { failed, passed, skipped, type Outcome, type Suite } from './junit-suite.ts';

export function comparisonSuites(comparison: ComparisonReport): Suite[] {
  const { baseline, candidate, changes, performance } = comparison;
  const ids = [...new Set(changes.map((change) => change.case))];
  const suite: Suite = {
    name: `comparison ${baseline} → ${candidate}`,
    arms: ids.flatMap((id) => [baseline, candidate].map((build) => ({ build, case: id }))),
    cases: changes.map((change) => ({
      classname: `${candidate}.${change.case}`,
      name: `${change.claim}: ${change.says}`,
      outcome: changeOutcome(change),
    })),
  };
  return [suite, ...(performance ? [performanceSuite(performance, candidate)] : [])];
}

function changeOutcome(change: ChangeReport): Outcome {
  const { reason, allowed } = change;
  const seen = `baseline: ${sideText(change.baseline)}\ncandidate: ${sideText(change.candidate)}`;
  switch (kindOf(change)) {
    case 'regressed':
      return failed(`regressed: ${reason}`, `${seen}\nreason: ${reason}`);
    case 'allowed':
      return skipped(`allowed: ${allowed ?? ''} (${reason})`);
    case 'open':
      return skipped(`undecided: ${reason}`);
    case 'untold':
      return skipped(`unmeasured: ${reason}`);
    case 'failing':
      return skipped(`not judged, because the baseline fails it as well: ${reason}`);
    case 'fixed':
      return passed(`fixed. ${reason}\n${seen}`);
    case 'same':
      return passed(seen);
  }
}

function performanceSuite(performance: PerformanceReport, candidate: string): Suite {
  return {
    name: 'performance',
    arms: [],
    cases: performance.measures.map((measure) => ({
      classname: `${candidate}.performance`,
      name: `${measure.id}: ${measure.title}`,
      outcome: measureOutcome(measure, performance),
    })),
  };
}

function measureOutcome(measure: Measure, performance: PerformanceReport): Outcome {
  const { decision, unit } = measure;
  const seen = `baseline: ${figure(measure.baseline, unit)}\ncandidate: ${figure(measure.candidate, unit)}\nchange: ${changeText(measure)}`;
  const finding = `${DECISION_WORDS[decision]}: ${changeText(measure)}`;
  if (decision === 'undecided' || decision === 'shown')
    return skipped(`${finding}. ${performanceText(performance)}`);
  if (decision !== 'worse') return passed(`${DECISION_WORDS[decision]}\n${seen}`);
  return performance.decides && measure.mayFail
    ? failed(finding, `${seen}\n${performanceText(performance)}`)
    : skipped(`${finding}; this does not decide the check`);
}
