/** The timeline of a sweep, drawn as a table: a column a version, a row a claim, a bar as long as nothing changes. */
import type { TimelineReport } from '../../verdict/schema.ts';
import { groupBy } from '../words.ts';
import { html, type Markup } from './markup.ts';
import { statusMark, statusSign, TONES } from './marks.ts';

type Claim = TimelineReport['claims'][number];
type Version = TimelineReport['versions'][number];
type Span = Claim['spans'][number];

const STATES: Record<Version['state'], string> = {
  measured: 'measured',
  partly: 'measured in part',
  failed: 'not measured',
  assumed: 'assumed: both neighbours that were measured are the same',
};

export function timelinePart(timeline: TimelineReport | null): Markup | null {
  if (timeline === null || timeline.versions.length === 0) return null;
  const lines = [...groupBy(timeline.versions, ({ version }) => version.split('.')[0] ?? '').values()];
  const failing = timeline.claims.filter(({ spans }) => spans.some(({ status }) => status === 'fail'));
  const others = timeline.claims.filter((claim) => !failing.includes(claim));
  return html`<h2 id="timeline">Since which version, until which</h2>
    ${lines.map((versions) => picture(timeline, versions, failing))} ${spanList(failing)}
    ${
      others.length > 0 &&
      html`<details>
        <summary>Claims that fail in no version <span class="count">${others.length}</span></summary>
        ${lines.map((versions) => picture(timeline, versions, others))}
      </details>`
    }
    ${troubles(timeline.versions)}
    <p class="downloads">
      <a data-download="timeline" download="timeline.csv" href="#timeline">timeline.csv</a>
    </p>`;
}

const spread = (versions: readonly Version[]): string =>
  versions.length === 1
    ? (versions[0]?.version ?? '')
    : `${versions[0]?.version ?? ''} to ${versions.at(-1)?.version ?? ''}`;

function picture(
  timeline: TimelineReport,
  versions: readonly Version[],
  claims: readonly Claim[],
): Markup | null {
  if (claims.length === 0) return null;
  const title = `${timeline.package}, ${spread(versions)}`;
  return html`<div class="wide" tabindex="0" role="region" aria-label="Timeline of ${title}">
    <table class="timeline">
      <caption>
        ${title}: ${versions.length} versions, ${versions.filter(({ state }) => state === 'measured').length}
        measured
      </caption>
      <colgroup>
        <col class="name" />
        ${versions.map(() => html`<col />`)}
      </colgroup>
      <thead>
        <tr>
          <th scope="col">claim</th>
          ${versions.map(({ version, state }) => html`<th scope="col" class="${state}"><span>${version}</span></th>`)}
        </tr>
      </thead>
      <tbody>
        ${claims.map(
          (claim) =>
            html`<tr>
              <th scope="row"><code>${claim.id}</code></th>
              ${bars(claim, versions)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Spans of this release line from left to right; what no span covers is left empty. */
function bars(claim: Claim, versions: readonly Version[]): Markup[] {
  const place = (version: string) => versions.findIndex((known) => known.version === version);
  const placed = claim.spans
    .map((span) => ({ span, from: place(span.from), to: place(span.to) }))
    .filter(({ from, to }) => from >= 0 && to >= from)
    .sort((a, b) => a.from - b.from);
  const cells: Markup[] = [];
  let next = 0;
  for (const { span, from, to } of placed) {
    if (from > next) cells.push(html`<td class="none" colspan="${from - next}"></td>`);
    cells.push(bar(span, to - from + 1));
    next = to + 1;
  }
  if (next < versions.length) cells.push(html`<td class="none" colspan="${versions.length - next}"></td>`);
  return cells;
}

const reach = ({ from, to }: Span): string => (from === to ? from : `${from}–${to}`);

const bar = (span: Span, width: number): Markup =>
  html`<td colspan="${width}" class="${TONES[span.status]}" title="${reach(span)}: ${span.status}">
    <span>${statusSign(span.status)}<span class="reach">${reach(span)}</span></span>
  </td>`;

/** The same in words, with reasons. */
function spanList(claims: readonly Claim[]): Markup | null {
  if (claims.length === 0) return null;
  return html`<ul class="findings">
    ${claims.map(
      (claim) =>
        html`<li class="bad">
          <p><code>${claim.id}</code> <span class="says">${claim.says}</span></p>
          ${claim.spans
            .filter(({ status }) => status === 'fail')
            .map(
              (span) =>
                html`<p class="reason"><b>${reach(span)}</b> ${statusMark(span.status)} ${span.reason}</p>`,
            )}
        </li>`,
    )}
  </ul>`;
}

function troubles(versions: readonly Version[]): Markup | null {
  const unlike = versions.filter(({ state }) => state !== 'measured');
  if (unlike.length === 0) return null;
  return html`<details>
    <summary>Versions that were not measured in full <span class="count">${unlike.length}</span></summary>
    <ul class="findings">
      ${[...groupBy(unlike, ({ state, reason }) => `${state}\n${reason}`).values()].map((same) => {
        const [first] = same;
        return html`<li class="${first?.state === 'failed' ? 'open' : 'plain'}">
          <p><b>${same.map(({ version }) => version).join(', ')}</b>: ${first && STATES[first.state]}</p>
          ${first && first.reason !== '' && html`<p class="reason">${first.reason}</p>`}
        </li>`;
      })}
    </ul>
  </details>`;
}
