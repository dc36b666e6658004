/** Tables in Markdown: the three series apart, a column a build. */
import type { BuildReport, CaseReport, Report } from '../verdict/schema.ts';
import type { Section } from './markdown-fit.ts';
import { codeSpan, escapeText } from './markdown-text.ts';
import { caseMark, failedClaims, kibText, mib, sessionsText, thousands } from './words.ts';

/** Wider tables are read by nobody: further builds stand in a table below. */
const MOST_COLUMNS = 6;

const MARKS = { pass: '✅', fail: '❌', unmeasured: '❔', allowed: '⚠️' } as const;

export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The line with the columns' names, and the one that makes it a table. */
export const tableHead = (names: readonly string[]): string[] => [row(names), row(names.map(() => '---'))];

export const buildTables = (report: Report): Section[] => [
  series(report, 'Registered sessions: kept (should be gone), open (rightly there)', sessionsCell),
  series(
    report,
    'Process memory (MiB at start → end, KiB per session)',
    (played) => `${mib(played.memory.startBytes)} → ${mib(played.memory.endBytes)}, ${kibText(played)}`,
  ),
  series(report, 'Completed requests', (played) => thousands(played.requests.completed)),
];

function series(report: Report, title: string, cell: (played: CaseReport) => string): Section {
  const { builds } = report;
  const groups = Array.from({ length: Math.ceil(builds.length / MOST_COLUMNS) }, (_, i) =>
    builds.slice(i * MOST_COLUMNS, (i + 1) * MOST_COLUMNS),
  );
  const [name = title] = title.split(/[:(]/);
  return {
    title,
    entries: groups.map((some) => table(some, cell)),
    between: '\n\n',
    of: `tables of ${name.trim().toLowerCase()} (${MOST_COLUMNS} builds each)`,
  };
}

function table(builds: readonly BuildReport[], cell: (played: CaseReport) => string): string {
  const ids = [...new Set(builds.flatMap((build) => build.cases.map((played) => played.id)))];
  const rows = ids.map((id) =>
    row([
      escapeText(id),
      ...builds.map((build) => {
        const played = build.cases.find((candidate) => candidate.id === id);
        return played ? cell(played) : '';
      }),
    ]),
  );
  return [...tableHead(['case', ...builds.map((build) => codeSpan(build.name))]), ...rows].join('\n');
}

function sessionsCell(played: CaseReport): string {
  const failed = failedClaims(played);
  return [`${MARKS[caseMark(played)]} ${sessionsText(played)}`, ...failed.map(escapeText)].join('<br>');
}
