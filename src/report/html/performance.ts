/** Speed and memory of both builds: the relative change with its interval, drawn as a dot with whiskers. */
import type { PerformanceReport } from '../../verdict/schema.ts';
import { changeText, DECISION_WORDS, figure, performanceText, type Measure } from '../comparison-words.ts';
import { html, type Markup } from './markup.ts';
import { mark, type Tone } from './marks.ts';

const TONES: Record<Measure['decision'], Tone> = {
  worse: 'bad',
  better: 'good',
  same: 'good',
  undecided: 'open',
  shown: 'plain',
};

export function performancePart(performance: PerformanceReport | null): Markup | null {
  if (performance === null) return null;
  const { measures, smallestEffect } = performance;
  const reach = reachOf(measures, smallestEffect);
  return html`<h2 id="performance">Speed and memory</h2>
    <p>${performanceText(performance)}</p>
    <table class="cards performance">
      <caption>
        Change of each measure; the shaded range is too small to be reported
      </caption>
      <thead>
        <tr>
          <th scope="col">measure</th>
          <th scope="col">baseline</th>
          <th scope="col">candidate</th>
          <th scope="col">change (99 % interval)</th>
          <th scope="col">decision</th>
        </tr>
      </thead>
      <tbody>
        ${measures.map(
          (measure) =>
            html`<tr>
              <th scope="row">${measure.title}</th>
              <td data-label="baseline">${figure(measure.baseline, measure.unit)}</td>
              <td data-label="candidate">${figure(measure.candidate, measure.unit)}</td>
              <td data-label="change">
                ${whisker(measure, reach, smallestEffect)}<span class="figures">${changeText(measure)}</span>
              </td>
              <td data-label="decision">
                ${mark(TONES[measure.decision], DECISION_WORDS[measure.decision])}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
    <p class="downloads">
      <a data-download="performance" download="performance.csv" href="#performance">performance.csv</a>
    </p>`;
}

/** All pictures share one scale, symmetric about no change; what goes beyond it ends at its edge. */
function reachOf(measures: readonly Measure[], smallestEffect: number): number {
  const ends = measures.flatMap(({ change }) =>
    change ? [Math.abs(change.low), Math.abs(change.high)] : [],
  );
  return Math.min(1, Math.max(smallestEffect * 2, ...ends) * 1.1);
}

const WIDTH = 240;
const HEIGHT = 28;

function whisker({ change, decision }: Measure, reach: number, smallestEffect: number): Markup | null {
  if (!change) return null;
  const at = (value: number): string =>
    ((Math.max(-1, Math.min(1, value / reach)) * 0.5 + 0.5) * (WIDTH - 16) + 8).toFixed(1);
  const middle = HEIGHT / 2;
  const left = at(-smallestEffect);
  return html`<svg class="whisker ${TONES[decision]}" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true">
    <rect
      class="small"
      x="${left}"
      y="1"
      width="${Number(at(smallestEffect)) - Number(left)}"
      height="${HEIGHT - 2}"
    />
    <line class="zero" x1="${at(0)}" x2="${at(0)}" y1="1" y2="${HEIGHT - 1}" />
    <line class="range" x1="${at(change.low)}" x2="${at(change.high)}" y1="${middle}" y2="${middle}" />
    ${[change.low, change.high].map((end) => html`<line class="range" x1="${at(end)}" x2="${at(end)}" y1="${middle - 5}" y2="${middle + 5}" />`)}
    <circle cx="${at(change.estimate)}" cy="${middle}" r="5" />
  </svg>`;
}
