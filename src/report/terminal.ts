/** The report for a terminal: of a comparison what changed, then the three series apart, then the sentences. */
import pc from 'picocolors';
import type { Report } from '../verdict/schema.ts';
import { ALLOWANCE_WORDS, allowanceState, verdictText } from './comparison-words.ts';
import { plainAll } from './plain.ts';
import { comparisonHead, differencesLine } from './terminal-comparison.ts';
import { mark, seriesTables, type Look, type Paint } from './terminal-tables.ts';
import { terminalTimeline } from './timeline-text.ts';
import {
  capacityText,
  differencesText,
  failedByClaim,
  floorText,
  namedBuilds,
  namedClaims,
  namesItself,
  unmeasuredByReason,
  type SharedReason,
} from './words.ts';

export interface TerminalOptions {
  readonly color: boolean;
  /** Width of the terminal in characters. */
  readonly columns: number;
}

export function terminalReport(judged: Report, options: TerminalOptions): string {
  const report = plainAll(judged);
  const paint = pc.createColors(options.color);
  const look: Look = { paint, columns: options.columns };
  if (report.timeline) return joined(terminalTimeline(report, report.timeline, look));
  const parts = [
    ...(report.comparison ? comparisonHead(report.comparison, look) : []),
    ...seriesTables(report, look),
    report.comparison ? '' : failures(report, paint),
    undecided(report, paint),
    allowances(report, paint),
    remarks(report),
    `${verdictMark(report, paint)} ${verdictText(report)}`,
  ];
  return joined(parts);
}

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n') + '\n';

const verdictMark = ({ verdict }: Report, paint: Paint): string =>
  mark(verdict === 'inconclusive' ? 'unmeasured' : verdict, paint);

function failures(report: Report, paint: Paint): string {
  return failedByClaim(report)
    .map(({ name, says, allowed, reasons }) =>
      [
        `${mark(allowed === null ? 'fail' : 'allowed', paint)} ${paint.bold(name)}  ${says}`,
        ...(allowed === null ? [] : [`    allowed: ${allowed}`]),
        ...reasons.map((one) => `    ${withBuilds(one)}`),
      ].join('\n'),
    )
    .join('\n');
}

const withBuilds = (one: SharedReason): string =>
  namesItself(one) ? one.reason : `${namedBuilds(one, (name) => name)}: ${one.reason}`;

const undecided = (report: Report, paint: Paint): string =>
  unmeasuredByReason(report)
    .map(
      (one) =>
        `${mark('unmeasured', paint)} ${withBuilds(one)}\n    unmeasured: ${namedClaims(one, (name) => name)}`,
    )
    .join('\n');

const ALLOWANCE_MARKS = { used: 'allowed', stale: 'fail', unused: 'unmeasured' } as const;

const allowances = (report: Report, paint: Paint): string =>
  report.allowances
    .map((one) => {
      const state = allowanceState(report, one);
      return `${mark(ALLOWANCE_MARKS[state], paint)} allowance ${one.claim}: ${ALLOWANCE_WORDS[state]} (${one.reason})`;
    })
    .join('\n');

function remarks(report: Report): string {
  const capacity = report.builds.flatMap((build) =>
    build.cases.flatMap((played) => {
      const text = played.id === 'abandon-large' ? capacityText(played) : null;
      return text === null ? [] : [`Capacity of ${build.name} with 256 KiB of client info: ${text}.`];
    }),
  );
  const differences = report.comparison ? differencesLine(report.comparison) : differencesText(report);
  const notices = report.notices.map(
    ({ build, case: id, text }) => `Note${build === null ? '' : ` on ${build} ${id ?? ''}`}: ${text}`,
  );
  return [...capacity, floorText(report), differences ?? '', ...notices]
    .filter((line) => line !== '')
    .join('\n');
}
