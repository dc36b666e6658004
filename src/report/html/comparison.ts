/** The release check: what became of each claim from the baseline to the candidate. */
import type { ChangeReport, ComparisonReport, Report } from '../../verdict/schema.ts';
import {
  changeName,
  changeText,
  kindOf,
  originTexts,
  sideText,
  type ChangeKind,
} from '../comparison-words.ts';
import { html, type Markup } from './markup.ts';
import { mark, statusMark, type Tone } from './marks.ts';

/** Which build is which, and where each was measured. */
export function sidesOf(report: Report, comparison: ComparisonReport): Markup {
  const side = (role: 'baseline' | 'candidate'): Markup => {
    const name = comparison[role];
    const version = report.builds.find((build) => build.name === name)?.version ?? null;
    return html`<div>
      <dt>${role}</dt>
      <dd><b>${name}</b>${version !== null && !name.includes(version) && ` (${version})`}</dd>
    </div>`;
  };
  return html`<dl class="sides">
      ${side('baseline')}<span class="arrow" aria-hidden="true">→</span>${side('candidate')}
    </dl>
    ${originTexts(comparison).map((text) => html`<p class="when">${text}</p>`)}`;
}

/** What changed, by name alone: for who reads no further. */
export function briefOf({ changes }: ComparisonReport): Markup {
  return html`<dl class="brief">
    ${SECTIONS.map(({ kind, brief, tone }) => {
      const names = changes.filter((change) => kindOf(change) === kind).map(changeName);
      if (names.length === 0) return null;
      return html`<div>
        <dt>${mark(tone, brief)}</dt>
        <dd>${names.map((name, i) => html`${i > 0 && ', '}<code>${name}</code>`)}</dd>
      </div>`;
    })}
  </dl>`;
}

interface Section {
  readonly kind: ChangeKind;
  readonly title: string;
  readonly tone: Tone;
}

const SECTIONS: readonly (Section & { readonly brief: string })[] = [
  { kind: 'regressed', title: 'What got worse', brief: 'worse', tone: 'bad' },
  { kind: 'open', title: 'Undecided', brief: 'undecided', tone: 'open' },
  { kind: 'allowed', title: 'Worse, and allowed', brief: 'allowed', tone: 'open' },
  { kind: 'fixed', title: 'What was fixed', brief: 'fixed', tone: 'good' },
];

const FOLDED: readonly Section[] = [
  { kind: 'failing', title: 'Fails in both builds', tone: 'bad' },
  { kind: 'same', title: 'Passes in both builds', tone: 'good' },
  { kind: 'untold', title: 'Known of one build at most', tone: 'plain' },
];

export function comparisonFindings(comparison: ComparisonReport): Markup {
  const of = (kind: ChangeKind) => comparison.changes.filter((change) => kindOf(change) === kind);
  const [worse, ...others] = SECTIONS.map((section) => listed(section, of(section.kind)));
  return html`${worse ?? null} ${speeds(comparison)} ${others}
  ${FOLDED.map((section) => folded(section, of(section.kind)))}`;
}

function listed({ kind, title, tone }: Section, changes: readonly ChangeReport[]): Markup | null {
  if (changes.length === 0) return null;
  return html`<h2 id="${kind}">${title} <span class="count">${changes.length}</span></h2>
    <ul class="findings">
      ${changes.map(
        (change) =>
          html`<li class="${tone}">
            <p>
              ${mark(tone, '')}<code>${changeName(change)}</code> <span class="says">${change.says}</span>
            </p>
            <p class="was">
              <span><small>baseline</small> ${side(change.baseline)}</span>
              <span class="arrow" aria-hidden="true">→</span>
              <span><small>candidate</small> ${side(change.candidate)}</span>
            </p>
            <p class="reason">${change.reason}</p>
            ${change.allowed !== null && html`<p class="reason">Allowed: “${change.allowed}”</p>`}
          </li>`,
      )}
    </ul>`;
}

function side(found: ChangeReport['baseline']): Markup {
  const known = found.status === 'pass' || found.status === 'fail';
  return html`${statusMark(found.status)}${known && found.observed !== '' && `: ${sideText(found)}`}`;
}

function folded({ kind, title, tone }: Section, changes: readonly ChangeReport[]): Markup | null {
  if (changes.length === 0) return null;
  return html`<details id="${kind}">
    <summary>${mark(tone, '')}${title} <span class="count">${changes.length}</span></summary>
    <table class="cards">
      <caption class="aside">
        ${title}
      </caption>
      <thead>
        <tr>
          <th scope="col">claim</th>
          <th scope="col">baseline</th>
          <th scope="col">candidate</th>
        </tr>
      </thead>
      <tbody>
        ${changes.map(
          (change) =>
            html`<tr>
              <th scope="row"><code>${changeName(change)}</code></th>
              <td data-label="baseline">${side(change.baseline)}</td>
              <td data-label="candidate">${side(change.candidate)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </details>`;
}

/** Worse speed stands beside the claims that got worse, and says whether it decides. */
function speeds({ performance }: ComparisonReport): Markup | null {
  const worse = performance?.measures.filter((measure) => measure.decision === 'worse') ?? [];
  if (worse.length === 0) return null;
  return html`<h2 id="slower">What it costs <span class="count">${worse.length}</span></h2>
    <ul class="findings">
      ${worse.map((measure) => {
        const decides = performance?.decides === true && measure.mayFail;
        const tone = decides ? 'bad' : 'open';
        return html`<li class="${tone}">
          <p>${mark(tone, '')}${measure.title}: <b>${changeText(measure)}</b></p>
          ${!decides && html`<p class="reason">Shown; it does not fail the check.</p>`}
        </li>`;
      })}
    </ul>`;
}
