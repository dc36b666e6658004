/**
 * The report as JUnit XML, by the schema of Jenkins' xUnit plugin (junit-10.xsd), which GitLab and GitHub's reporters
 * read as well. A claim is a test case, in a suite per build and case. JUnit knows no `undecided`: what was not
 * measured is skipped, and a report that is undecided has a suite `verdict` with one error. Of a comparison, the test
 * cases are the changes; failures that the baseline has as well turn nothing red.
 */
import XMLBuilder from 'fast-xml-builder';
import type { ArmSeries } from '../verdict/series.ts';
import type { BuildReport, CaseReport, ClaimReport, Report } from '../verdict/schema.ts';
import { allowanceState, ALLOWANCE_WORDS, verdictText } from './comparison-words.ts';
import { comparisonSuites } from './junit-comparison.ts';
import { failed, passed, skipped, type Suite, type TestCase } from './junit-suite.ts';
import { plain, withTexts } from './plain.ts';
import { floorText } from './words.ts';

/** @param series for the times of suites: without it they are 0 */
export function junitReport(judged: Report, series: readonly ArmSeries[] = []): string {
  const report = withTexts(judged, xmlText);
  const suites = [
    ...verdictSuite(report),
    ...(report.comparison
      ? comparisonSuites(report.comparison)
      : report.builds.flatMap((build) => build.cases.map((played) => claimSuite(build, played)))),
    ...allowanceSuite(report),
  ];
  return xmlOf(report, suites, secondsOf(series));
}

/** Characters that no XML document may hold, and halves of characters. */
const NOT_XML = /[\ud800-\udfff\ufffe\uffff]/gu;
const xmlText = (text: string): string => plain(text).replace(NOT_XML, '\ufffd');

function verdictSuite(report: Report): Suite[] {
  if (report.verdict !== 'inconclusive') return [];
  const text = verdictText(report);
  const error = { kind: 'error', message: text, text } as const;
  return [{ name: 'verdict', arms: [], cases: [{ classname: 'verdict', name: 'verdict', outcome: error }] }];
}

function claimSuite(build: BuildReport, played: CaseReport): Suite {
  const classname = `${build.name}.${played.id}`;
  return {
    name: `${build.name} ${played.id}`,
    arms: [{ build: build.name, case: played.id }],
    cases: played.claims.map((claim) => ({
      classname,
      name: `${claim.id}: ${claim.says}`,
      outcome: outcomeOf(claim),
    })),
  };
}

function outcomeOf(claim: ClaimReport): TestCase['outcome'] {
  if (!claim.promised) return skipped(`not promised: ${claim.reason}`);
  if (claim.status === 'unmeasured') return skipped(`unmeasured: ${claim.reason}`);
  if (claim.status === 'pass') return passed(`expected: ${claim.expected}\nobserved: ${claim.observed}`);
  if (claim.allowed !== null) return skipped(`allowed: ${claim.allowed} (${claim.reason})`);
  return failed(
    claim.reason,
    `expected: ${claim.expected}\nobserved: ${claim.observed}\nreason: ${claim.reason}`,
  );
}

function allowanceSuite(report: Report): Suite[] {
  if (report.allowances.length === 0) return [];
  const cases = report.allowances.map((one): TestCase => {
    const state = allowanceState(report, one);
    const text = `${ALLOWANCE_WORDS[state]} (given reason: ${one.reason})`;
    const outcome = { used: passed(text), stale: failed(text, text), unused: skipped(text) }[state];
    return { classname: 'allowances', name: one.claim, outcome };
  });
  return [{ name: 'allowances', arms: [], cases }];
}

/** Seconds that each arm took, by build and case. */
function secondsOf(series: readonly ArmSeries[]): (suite: Suite) => number {
  const seconds = new Map(series.map((arm) => [`${arm.build} ${arm.case}`, arm.phases.at(-1)?.to ?? 0]));
  return ({ arms }) => arms.reduce((sum, arm) => sum + (seconds.get(`${arm.build} ${arm.case}`) ?? 0), 0);
}

const builder = new XMLBuilder({
  format: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  suppressEmptyNode: true,
  suppressBooleanAttributes: false,
});

function xmlOf(report: Report, suites: readonly Suite[], seconds: (suite: Suite) => number): string {
  const properties = propertiesOf(report);
  const total = suites.reduce((sum, suite) => sum + seconds(suite), 0);
  const cases = suites.flatMap((suite) => suite.cases);
  const body = {
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    testsuites: {
      '@name': report.tool.name,
      '@tests': cases.length,
      '@failures': count(cases, 'failure'),
      '@errors': count(cases, 'error'),
      '@time': total.toFixed(3),
      testsuite: suites.map((suite, id) => ({
        '@name': suite.name,
        '@tests': suite.cases.length,
        '@failures': count(suite.cases, 'failure'),
        '@errors': count(suite.cases, 'error'),
        '@skipped': count(suite.cases, 'skipped'),
        '@time': seconds(suite).toFixed(3),
        // The schemas in use take no zone.
        '@timestamp': report.startedAt.replace(/(\.\d+)?Z$/, ''),
        '@id': id,
        properties: { property: properties },
        testcase: suite.cases.map(caseNode),
      })),
    },
  };
  return builder.build(body);
}

const count = (cases: readonly TestCase[], kind: string): number =>
  cases.filter((one) => one.outcome.kind === kind).length;

function caseNode({ classname, name, outcome }: TestCase): object {
  const attributes = { '@classname': classname, '@name': name, '@time': '0' };
  if ('message' in outcome) {
    const node = { '@message': outcome.message, '@type': outcome.kind, '#text': outcome.text };
    return { ...attributes, [outcome.kind]: node };
  }
  // Without attributes, because GitLab shows the text of a skipped test only then.
  const element = outcome.kind === 'passed' ? 'system-out' : 'skipped';
  return { ...attributes, [element]: outcome.text };
}

function propertiesOf(report: Report): object[] {
  const { origins } = report.comparison ?? {};
  const known: Record<string, string | number | undefined> = {
    verdict: report.verdict,
    'verdict.text': verdictText(report),
    'detection-floor': floorText(report),
    'tool.version': report.tool.version,
    ...Object.fromEntries(Object.entries(report.host).map(([name, value]) => [`host.${name}`, value])),
    'baseline.seed': origins?.baseline?.seed,
    'candidate.seed': origins?.candidate?.seed,
  };
  return Object.entries(known).flatMap(([name, value]) =>
    value === undefined ? [] : [{ '@name': name, '@value': String(value) }],
  );
}
