/** A comparison in Markdown: what changed, worst first, then what may explain it. */
import type { ChangeReport, ComparisonReport } from '../verdict/schema.ts';
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
  type Measure,
} from './comparison-words.ts';
import { clipped, type Section } from './markdown-fit.ts';
import { row, tableHead } from './markdown-tables.ts';
import { codeSpan, escapeText } from './markdown-text.ts';

const MARKS: Record<ChangeKind, string> = {
  regressed: '❌',
  allowed: '⚠️',
  open: '❔',
  fixed: '✅',
  failing: '➖',
  untold: '➖',
  same: '➖',
};

/** Paragraphs under the verdict. */
export const comparisonHead = (comparison: ComparisonReport): string[] => [
  `Baseline ${codeSpan(comparison.baseline)} → candidate ${codeSpan(comparison.candidate)}. ${countsText(comparison)}`,
  ...originTexts(comparison).map((text) => escapeText(clipped(text))),
];

export const comparisonSections = (comparison: ComparisonReport): Section[] => [
  {
    title: 'What changed',
    head: tableHead(['', 'claim', 'baseline', 'candidate', 'what it means']),
    entries: shownChanges(comparison).map(changeRow),
    of: 'changes',
  },
  ...performance(comparison),
  {
    title: 'What differs between the builds',
    head: tableHead(['', 'baseline', 'candidate']),
    entries: comparison.differences.map(({ name, baseline, candidate }) =>
      row([name, baseline ?? '–', candidate ?? '–'].map(escapeText)),
    ),
    of: 'differences',
  },
];

function changeRow(change: ChangeReport): string {
  const kind = kindOf(change);
  return row([
    `${MARKS[kind]} ${KIND_WORDS[kind]}`,
    `${codeSpan(changeName(change))}<br>${escapeText(change.says)}`,
    escapeText(sideText(change.baseline)),
    escapeText(sideText(change.candidate)),
    escapeText(changeReason(change)),
  ]);
}

function performance({ performance: found }: ComparisonReport): Section[] {
  if (found === null) return [];
  const section: Section = {
    title: 'Performance',
    head: [
      escapeText(performanceText(found)),
      '',
      ...tableHead(['measure', 'baseline', 'candidate', 'change (99 % interval)', 'finding']),
    ],
    entries: found.measures.map(measureRow),
    of: 'measures',
  };
  return [section];
}

const measureRow = (measure: Measure): string =>
  row([
    escapeText(measure.title),
    escapeText(figure(measure.baseline, measure.unit)),
    escapeText(figure(measure.candidate, measure.unit)),
    escapeText(changeText(measure)),
    DECISION_WORDS[measure.decision],
  ]);
