/** The report as Markdown, for a pull request's comment or a job's summary. */
import type { CaseReport, Report } from '../verdict/schema.ts';
import {
  capacityText,
  claimName,
  differencesText,
  claimsWhere,
  failedClaims,
  floorText,
  kibText,
  mib,
  sessionsText,
  thousands,
  VERDICTS,
} from './words.ts';

const MARKS = { pass: '✅', fail: '❌', unmeasured: '❔' } as const;

/** Text in a table's cell: no line breaks, no column ends, nothing that a renderer takes for HTML. */
const escape = (text: string): string =>
  text
    .replace(/[\\`*_|[\]]/g, '\\$&')
    .replace(/</g, '&lt;')
    .replace(/\s+/g, ' ');

export function markdownReport(report: Report): string {
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
    claims(report, 'Failed claims', (claim) => claim.promised && claim.status === 'fail'),
    claims(report, 'Not measured', (claim) => claim.status === 'unmeasured'),
    remarks(report),
    `<sub>${report.tool.name} ${report.tool.version}, ${report.startedAt}</sub>`,
  ];
  return sections.filter((text) => text !== '').join('\n\n') + '\n';
}

function table(report: Report, cell: (played: CaseReport) => string): string {
  const ids = [...new Set(report.builds.flatMap((build) => build.cases.map((played) => played.id)))];
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = ids.map((id) =>
    row([
      id,
      ...report.builds.map((build) => {
        const played = build.cases.find((candidate) => candidate.id === id);
        return played ? cell(played) : '';
      }),
    ]),
  );
  const head = ['case', ...report.builds.map((build) => escape(build.name))];
  return [row(head), row(head.map(() => '---')), ...rows].join('\n');
}

function sessionsCell(played: CaseReport): string {
  const failed = failedClaims(played);
  return `${MARKS[played.status]} ${sessionsText(played)}${failed.length > 0 ? `<br>${failed.join('<br>')}` : ''}`;
}

function claims(report: Report, title: string, wanted: Parameters<typeof claimsWhere>[1]): string {
  const lines = claimsWhere(report, wanted).map(
    (place) =>
      `- \`${claimName(place)}\` ${escape(place.build)}: ${escape(place.claim.reason)}${place.claim.promised ? '' : ' (not promised)'}`,
  );
  return lines.length === 0 ? '' : [`### ${title}`, ...lines].join('\n');
}

function remarks(report: Report): string {
  const capacity = report.builds.flatMap((build) =>
    build.cases.flatMap((played) => {
      const text = played.id === 'abandon-large' ? capacityText(played) : null;
      return text === null ? [] : [`- ${escape(build.name)}: ${text}`];
    }),
  );
  const general = [floorText(report), differencesText(report)].flatMap((text) =>
    text === null ? [] : [`- ${escape(text)}`],
  );
  return [...capacity, ...general, ...report.notices.map((n) => `- ${escape(n.text)}`)].join('\n');
}
