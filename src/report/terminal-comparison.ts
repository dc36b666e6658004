/** A comparison on a terminal: what changed, worst first, and what may explain it. */
import type { ChangeReport, ComparisonReport, PerformanceReport } from '../verdict/schema.ts';
import {
  changeName,
  changeReason,
  changeText,
  countsText,
  DECISION_WORDS,
  figure,
  KIND_WORDS,
  kindOf,
  originTexts,
  performanceText,
  shownChanges,
  sideText,
  type ChangeKind,
} from './comparison-words.ts';
import { drawn, mark, type Look, type Paint } from './terminal-tables.ts';

/** The head of a comparison's report: before the tables, because it is what one looks for. */
export function comparisonHead(comparison: ComparisonReport, look: Look): string[] {
  const { paint } = look;
  return [
    [
      paint.bold(`Baseline ${comparison.baseline} → candidate ${comparison.candidate}`),
      countsText(comparison),
      ...originTexts(comparison),
    ].join('\n'),
    ...shownChanges(comparison)
      .map((change) => changeLines(change, paint))
      .reduce<string[][]>(byLength, [])
      .map((lines) => lines.join('\n')),
    ...(comparison.performance ? [performance(comparison.performance, look)] : []),
  ];
}

/** Entries of more than one line stand apart; those of one line follow each other. */
function byLength(groups: string[][], entry: string): string[][] {
  const last = groups.at(-1);
  if (last === undefined || entry.includes('\n') || (last.at(-1) ?? '').includes('\n'))
    return [...groups, [entry]];
  last.push(entry);
  return groups;
}

function changeLines(change: ChangeReport, paint: Paint): string {
  const kind = kindOf(change);
  const first = `${changeMark(kind, paint)} ${KIND_WORDS[kind]}  ${paint.bold(changeName(change))}  ${change.says}`;
  if (kind === 'untold') return `${first} ${paint.dim(change.reason)}`;
  return [
    first,
    `    baseline:  ${sideText(change.baseline)}`,
    `    candidate: ${sideText(change.candidate)}`,
    `    ${changeReason(change)}`,
  ].join('\n');
}

function changeMark(kind: ChangeKind, paint: Paint): string {
  if (kind === 'regressed') return mark('fail', paint);
  if (kind === 'fixed') return mark('pass', paint);
  if (kind === 'allowed') return mark('allowed', paint);
  return kind === 'open' ? mark('unmeasured', paint) : paint.dim('–');
}

function performance(found: PerformanceReport, { paint }: Look): string {
  const rows = found.measures.map((measure) => [
    measure.title,
    figure(measure.baseline, measure.unit),
    figure(measure.candidate, measure.unit),
    changeText(measure),
    DECISION_WORDS[measure.decision],
  ]);
  return [
    paint.bold('Performance'),
    performanceText(found),
    drawn(['measure', 'baseline', 'candidate', 'change (99 % interval)', 'finding'], rows),
  ].join('\n');
}

/** Packages and configuration that differ: one line, as of any report of several builds. */
export function differencesLine({ differences }: ComparisonReport): string {
  const shown = differences.map(
    ({ name, baseline, candidate }) => `${name} ${baseline ?? '–'} → ${candidate ?? '–'}`,
  );
  return `The builds differ in: ${shown.join('; ') || 'nothing that is known'}.`;
}
