/** The report for a terminal: the three series apart, then the sentences. */
import Table from 'cli-table3';
import pc from 'picocolors';
import type { BuildReport, CaseReport, ClaimReport, Report } from '../verdict/schema.ts';
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

export interface TerminalOptions {
  readonly color: boolean;
  /** Width of the terminal in characters. */
  readonly columns: number;
}

type Paint = ReturnType<typeof pc.createColors>;

interface Look {
  readonly paint: Paint;
  readonly columns: number;
}

export function terminalReport(judged: Report, options: TerminalOptions): string {
  const report = plainAll(judged);
  const paint = pc.createColors(options.color);
  const look: Look = { paint, columns: options.columns };
  const played = report.builds.flatMap((build) => build.cases);
  const parts = [
    played.some((one) => one.sessions !== null || one.requests.completed > 0) &&
      section(report, look, 'Registered sessions: kept (should be gone), open (rightly there)', (one) =>
        sessionsCell(one, paint),
      ),
    played.some((one) => one.memory.startBytes !== null) &&
      section(
        report,
        look,
        'Process memory: MiB at start → end; KiB per session (95 % interval)',
        memoryCell,
      ),
    played.some((one) => one.requests.completed > 0) &&
      section(report, look, 'Completed requests: count, per second under load', requestsCell),
    failures(report, paint),
    undecided(report, paint),
    remarks(report),
    `${verdictMark(report, paint)} ${VERDICTS[report.verdict]}${report.complete ? '' : ' The run was not played to its end.'}`,
  ];
  return parts.filter((part) => part !== false && part !== '').join('\n\n') + '\n';
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
  const rows = new Table({
    head: ['case', ...builds.map(shortName)],
    style: { head: [], border: [], compact: true },
  });
  for (const id of ids) {
    const cells = builds.map((build) => {
      const played = build.cases.find((candidate) => candidate.id === id);
      return played ? cell(played) : '';
    });
    rows.push([id, ...cells]);
  }
  return rows.toString();
}

/** `python:mcp@1.29.1` → `mcp 1.29.1`: four of them must fit beside each other. */
function shortName(build: BuildReport): string {
  return build.name
    .replace(/^python:(.+)@latest$/, `$1 latest (${build.version ?? '?'})`)
    .replace(/^python:(.+)@/, '$1 ');
}

function sessionsCell(played: CaseReport, paint: Paint): string {
  const lines = [`${mark(played.status, paint)} ${sessionsText(played)}`];
  if (played.status === 'fail') lines.push(paint.red(failedClaims(played).join('\n')));
  const remnants = played.sessions?.remnants ?? 0;
  if (remnants > 0) lines.push(`${thousands(remnants)} remnants`);
  return lines.join('\n');
}

function mark(status: ClaimReport['status'], paint: Paint): string {
  if (status === 'pass') return paint.green('✓');
  return status === 'fail' ? paint.red('✗') : paint.yellow('?');
}

function verdictMark(report: Report, paint: Paint): string {
  if (report.verdict === 'inconclusive') return mark('unmeasured', paint);
  return mark(report.verdict, paint);
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

function failures(report: Report, paint: Paint): string {
  return failedByClaim(report)
    .map(({ name, says, reasons }) =>
      [
        `${paint.red('✗')} ${paint.bold(name)}  ${says}`,
        ...reasons.map((one) => `    ${withBuilds(one)}`),
      ].join('\n'),
    )
    .join('\n');
}

const withBuilds = (one: SharedReason): string =>
  namesItself(one) ? one.reason : `${one.builds.join(', ')}: ${one.reason}`;

const MANY = 6;

function undecided(report: Report, paint: Paint): string {
  return unmeasuredByReason(report)
    .map((one) => {
      const { claims } = one;
      const more = claims.length > MANY ? ` and ${claims.length - MANY} more claims` : '';
      return `${paint.yellow('?')} ${withBuilds(one)}\n    unmeasured: ${claims.slice(0, MANY).join(', ')}${more}`;
    })
    .join('\n');
}

function remarks(report: Report): string {
  const capacity = report.builds.flatMap((build) =>
    build.cases.flatMap((played) => {
      const text = played.id === 'abandon-large' ? capacityText(played) : null;
      return text === null ? [] : [`Capacity of ${build.name} with 256 KiB of client info: ${text}.`];
    }),
  );
  const notices = report.notices.map(
    ({ build, case: id, text }) => `Note${build === null ? '' : ` on ${build} ${id ?? ''}`}: ${text}`,
  );
  return [...capacity, floorText(report) ?? '', differencesText(report) ?? '', ...notices]
    .filter((line) => line !== '')
    .join('\n');
}
