/** The page's parts in their order: each a section of its own, so that a live page replaces what has changed. */
import type { ArmSeries } from '../../verdict/series.ts';
import type { Report } from '../../verdict/schema.ts';
import { casePart } from './cases.ts';
import { caseIds } from './chart-data.ts';
import { differencesPart, factsPart } from './facts.ts';
import { html, type Markup } from './markup.ts';
import { performancePart } from './performance.ts';
import { timelinePart } from './timeline.ts';
import { findingsPart, heroPart } from './verdict.ts';

export interface Part {
  readonly id: string;
  readonly content: Markup;
  /** In the navigation; null: not there. */
  readonly link: { readonly href: string; readonly text: string } | null;
}

export function partsOf(report: Report, series: readonly ArmSeries[], running: boolean): Part[] {
  const cases = caseIds(report, series);
  const part = (id: string, content: Markup | null, text: string | null = null, href = `#${id}`): Part[] =>
    content === null ? [] : [{ id, content, link: text === null ? null : { href, text } }];
  return [
    ...part('hero', heroPart(report, running), 'Verdict', '#main'),
    ...part('timeline', timelinePart(report.timeline), 'Timeline'),
    ...part('findings', findingsPart(report)),
    ...part('performance', performancePart(report.comparison?.performance ?? null), 'Speed and memory'),
    ...part('cases', cases.length > 0 ? casesHead() : null),
    ...cases.flatMap((id) => part(`case-${id}`, casePart(report, id, series), id)),
    ...part('differences', differencesPart(report), 'Differences'),
    ...part('about', factsPart(report), 'About'),
  ];
}

/** How to read all pictures, and which builds they show. */
const casesHead = (): Markup =>
  html`<h2 id="cases">Cases</h2>
    <p class="key">
      Each case has three series over seconds since its arm began.
      <span class="stroke thick" aria-hidden="true"></span> registered
      <span class="stroke thin" aria-hidden="true"></span> expected, at least and at most
      <span class="stroke area" aria-hidden="true"></span> retention drift: registered beyond what is
      expected, or below it
    </p>
    <p class="key script-only" hidden>
      Point at a chart, or focus it and use the arrow keys, to read values.
    </p>
    <div class="builds" role="group" aria-label="Builds drawn in the charts" hidden></div>`;
