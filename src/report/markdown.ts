/** The report as Markdown, for a pull request's comment or a job's summary. */
import type { CaseReport, Report } from '../verdict/schema.ts';
import { codeSpan, escapeText } from './markdown-text.ts';
import { plainAll } from './plain.ts';
import {
  capacityText,
  differencesText,
  failedByClaim,
  failedClaims,
  floorText,
  kibText,
  mib,
  namesItself,
  sessionsText,
  thousands,
  unmeasuredByReason,
  VERDICTS,
  type SharedReason,
} from './words.ts';

const MARKS = { pass: '✅', fail: '❌', unmeasured: '❔' } as const;

export function markdownReport(judged: Report): string {
  const report = plainAll(judged);
  const sections = [
    `## MCP session retention: ${report.verdict}`,
    VERDICTS[report.verdict] + (report.complete ? '' : ' The run was not played to its end.'),
    '### Registered sessions: kept (should be gone), open (rightly there)',
    table(report, sessionsCell),
    '### Process memory (MiB at start → end, KiB per session)',
    table(
      report,
      (played) => `${mib(played.memory.startBytes)} → ${mib(played.memory.endBytes)}, ${kibText(played)}`,
    ),
    '### Completed requests',
    table(report, (played) => thousands(played.requests.completed)),
    failures(report),
    undecided(report),
    remarks(report),
    `<sub>${escapeText(`${report.tool.name} ${report.tool.version}, ${report.startedAt}`)}</sub>`,
  ];
  return sections.filter((text) => text !== '').join('\n\n') + '\n';
}

function table(report: Report, cell: (played: CaseReport) => string): string {
  const ids = [...new Set(report.builds.flatMap((build) => build.cases.map((played) => played.id)))];
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = ids.map((id) =>
    row([
      escapeText(id),
      ...report.builds.map((build) => {
        const played = build.cases.find((candidate) => candidate.id === id);
        return played ? cell(played) : '';
      }),
    ]),
  );
  const head = ['case', ...report.builds.map((build) => codeSpan(build.name))];
  return [row(head), row(head.map(() => '---')), ...rows].join('\n');
}

function sessionsCell(played: CaseReport): string {
  const failed = failedClaims(played);
  return `${MARKS[played.status]} ${sessionsText(played)}${failed.length > 0 ? `<br>${failed.map(escapeText).join('<br>')}` : ''}`;
}

function failures(report: Report): string {
  const lines = failedByClaim(report).flatMap(({ name, says, reasons }) => [
    `- ${codeSpan(name)} ${escapeText(says)}`,
    ...reasons.map((one) => `  - ${withBuilds(one)}`),
  ]);
  return lines.length === 0 ? '' : ['### Failed claims', ...lines].join('\n');
}

const withBuilds = (one: SharedReason): string =>
  `${namesItself(one) ? '' : `${one.builds.map(codeSpan).join(', ')}: `}${escapeText(one.reason)}`;

function undecided(report: Report): string {
  const lines = unmeasuredByReason(report).map(
    (one) => `- ${withBuilds(one)}<br>unmeasured: ${one.claims.map(codeSpan).join(', ')}`,
  );
  return lines.length === 0 ? '' : ['### Not measured', ...lines].join('\n');
}

function remarks(report: Report): string {
  const capacity = report.builds.flatMap((build) =>
    build.cases.flatMap((played) => {
      const text = played.id === 'abandon-large' ? capacityText(played) : null;
      return text === null ? [] : [`- ${codeSpan(build.name)}: ${escapeText(text)}`];
    }),
  );
  const general = [floorText(report), differencesText(report)].flatMap((text) =>
    text === null ? [] : [`- ${escapeText(text)}`],
  );
  return [
    ...capacity,
    ...general,
    ...report.notices.map(({ build, case: id, text }) => {
      const where = build === null ? '' : `${codeSpan(build)} ${escapeText(id ?? '')}: `;
      return `- ${where}${escapeText(text)}`;
    }),
  ].join('\n');
}
