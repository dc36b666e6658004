/** The report as Markdown, for a pull request's comment or a job's summary: never longer than those take. */
import type { Report } from '../verdict/schema.ts';
import { comparisonHead, comparisonSections } from './markdown-comparison.ts';
import { clipped, fitted, type Section } from './markdown-fit.ts';
import { buildTables } from './markdown-tables.ts';
import { codeSpan, escapeText } from './markdown-text.ts';
import { ALLOWANCE_WORDS, allowanceState, verdictText } from './comparison-words.ts';
import { plain, withTexts } from './plain.ts';
import { markdownTimeline, markdownTimelineHead } from './timeline-text.ts';
import {
  capacityText,
  counted,
  differencesText,
  failedByClaim,
  floorText,
  namedBuilds,
  namedClaims,
  namesItself,
  unmeasuredByReason,
  type FailedClaim,
  type SharedReason,
} from './words.ts';

export function markdownReport(judged: Report): string {
  const report = withTexts(judged, (text) => clipped(plain(text)));
  const opening = [
    `## MCP session retention: ${report.verdict}`,
    `**${escapeText(clipped(verdictText(report)))}**`,
    ...(report.comparison ? comparisonHead(report.comparison) : []),
    escapeText(floorText(report)),
  ].join('\n\n');
  const closing = `<sub>${escapeText(clipped(`${report.tool.name} ${report.tool.version}, ${report.startedAt}`))}</sub>`;
  if (report.timeline)
    return fitted(
      markdownTimelineHead(report, report.timeline),
      markdownTimeline(report, report.timeline),
      closing,
    );
  const sections: Section[] = [
    ...(report.comparison ? comparisonSections(report.comparison) : [failures(report)]),
    allowances(report),
    ...buildTables(report),
    undecided(report),
    remarks(report),
  ];
  return fitted(opening, sections, closing);
}

function failures(report: Report): Section {
  return { title: 'Failed claims', entries: failedByClaim(report).map(failure), of: 'failed claims' };
}

/** A claim that fails for as many reasons as there are builds is told by the first few. */
const MANY_REASONS = 5;

function failure({ name, says, allowed, reasons }: FailedClaim): string {
  const more = reasons.length - MANY_REASONS;
  return [
    `- ${allowed === null ? '❌' : '⚠️'} ${codeSpan(name)} ${escapeText(says)}`,
    ...(allowed === null ? [] : [`  - Allowed: ${escapeText(allowed)}`]),
    ...reasons.slice(0, MANY_REASONS).map((one) => `  - ${withBuilds(one)}`),
    ...(more > 0 ? [`  - and ${counted(more, 'more reason', 'more reasons')} of other builds`] : []),
  ].join('\n');
}

const withBuilds = (one: SharedReason): string =>
  `${namesItself(one) ? '' : `${namedBuilds(one, codeSpan)}: `}${escapeText(one.reason)}`;

function undecided(report: Report): Section {
  const entries = unmeasuredByReason(report).map(
    (one) => `- ${withBuilds(one)}<br>unmeasured: ${namedClaims(one, codeSpan)}`,
  );
  return { title: 'Not measured', entries, of: 'reasons why claims were not measured' };
}

const ALLOWANCE_MARKS = { used: '⚠️', stale: '❌', unused: '❔' } as const;

function allowances(report: Report): Section {
  const entries = report.allowances.map((one) => {
    const state = allowanceState(report, one);
    return `- ${ALLOWANCE_MARKS[state]} ${codeSpan(one.claim)} ${ALLOWANCE_WORDS[state]}. Given reason: ${escapeText(one.reason)}`;
  });
  return { title: 'Allowances', entries, of: 'allowances' };
}

function remarks(report: Report): Section {
  const capacity = report.builds.flatMap((build) =>
    build.cases.flatMap((played) => {
      const text = played.id === 'abandon-large' ? capacityText(played) : null;
      return text === null ? [] : [`- ${codeSpan(build.name)}: ${escapeText(text)}`];
    }),
  );
  // A comparison has a table of its own for what differs.
  const differences = report.comparison ? null : differencesText(report);
  const notices = report.notices.map(({ build, case: id, text }) => {
    const where = build === null ? '' : `${codeSpan(build)} ${escapeText(id ?? '')}: `;
    return `- ${where}${escapeText(text)}`;
  });
  const entries = [
    ...capacity,
    ...(differences === null ? [] : [`- ${escapeText(differences)}`]),
    ...notices,
  ];
  return { title: 'Notes', entries, of: 'notes' };
}
