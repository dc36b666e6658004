/** Tables on a terminal: the three series apart, a column a build. */
import Table from 'cli-table3';
import type pc from 'picocolors';
import { shortName } from './names.ts';
import type { BuildReport, CaseReport, Report } from '../verdict/schema.ts';
import { caseMark, failedClaims, kibText, mib, sessionsText, thousands } from './words.ts';

export type Paint = ReturnType<typeof pc.createColors>;

export interface Look {
  readonly paint: Paint;
  /** Width of the terminal in characters. */
  readonly columns: number;
}

/** The tables of the series that were measured. */
export function seriesTables(report: Report, look: Look): string[] {
  const played = report.builds.flatMap((build) => build.cases);
  const has = (measured: (one: CaseReport) => boolean): boolean => played.some(measured);
  return [
    ...(has((one) => one.sessions !== null || one.requests.completed > 0)
      ? [
          section(report, look, 'Registered sessions: kept (should be gone), open (rightly there)', (one) =>
            sessionsCell(one, look.paint),
          ),
        ]
      : []),
    ...(has((one) => one.memory.startBytes !== null)
      ? [
          section(
            report,
            look,
            'Process memory: MiB at start → end; KiB per session (95 % interval)',
            memoryCell,
          ),
        ]
      : []),
    ...(has((one) => one.requests.completed > 0)
      ? [section(report, look, 'Completed requests: count, per second under load', requestsCell)]
      : []),
  ];
}

/** A table with a column a build; where that is wider than the terminal, two tables below each other, or more. */
function section(report: Report, look: Look, title: string, cell: (played: CaseReport) => string): string {
  return [look.paint.bold(title), ...tables(report.builds, look.columns, cell)].join('\n');
}

function tables(
  builds: readonly BuildReport[],
  columns: number,
  cell: (played: CaseReport) => string,
): string[] {
  const text = table(builds, cell);
  const width = text.indexOf('\n');
  if (width <= columns || builds.length === 1) return [text];
  const half = Math.ceil(builds.length / 2);
  return [builds.slice(0, half), builds.slice(half)].flatMap((some) => tables(some, columns, cell));
}

function table(builds: readonly BuildReport[], cell: (played: CaseReport) => string): string {
  const ids = [...new Set(builds.flatMap((build) => build.cases.map((played) => played.id)))];
  const rows = ids.map((id) => {
    const cells = builds.map((build) => {
      const played = build.cases.find((candidate) => candidate.id === id);
      return played ? cell(played) : '';
    });
    return [id, ...cells];
  });
  return drawn(['case', ...builds.map(shortName)], rows);
}

export function drawn(head: readonly string[], rows: readonly string[][]): string {
  const made = new Table({ head: [...head], style: { head: [], border: [], compact: true } });
  made.push(...rows);
  return made.toString();
}

function sessionsCell(played: CaseReport, paint: Paint): string {
  const kind = caseMark(played);
  const lines = [`${mark(kind, paint)} ${sessionsText(played)}`];
  const failed = failedClaims(played).join('\n');
  if (played.status === 'fail') lines.push(kind === 'allowed' ? paint.yellow(failed) : paint.red(failed));
  const remnants = played.sessions?.remnants ?? 0;
  if (remnants > 0) lines.push(`${thousands(remnants)} remnants`);
  return lines.join('\n');
}

export function mark(kind: CaseReport['status'] | 'allowed', paint: Paint): string {
  if (kind === 'pass') return paint.green('✓');
  if (kind === 'allowed') return paint.yellow('!');
  return kind === 'fail' ? paint.red('✗') : paint.yellow('?');
}

function memoryCell(played: CaseReport): string {
  const { startBytes, endBytes } = played.memory;
  if (startBytes === null) return 'not read';
  return `${mib(startBytes)} → ${mib(endBytes)} MiB\n${kibText(played)}`;
}

function requestsCell(played: CaseReport): string {
  const { completed, broken, perSecond } = played.requests;
  const parts = [thousands(completed)];
  if (perSecond !== null) parts.push(`${perSecond.toFixed(0)}/s`);
  if (broken > 0) parts.push(`${thousands(broken)} broken`);
  return parts.join(', ');
}
