/** One section a case: its pictures, its claims, its figures. */
import type { ArmSeries } from '../../verdict/series.ts';
import type { BuildReport, CaseReport, Report } from '../../verdict/schema.ts';
import { capacityText, counted, caseMark, kibText, mib, sessionsText, thousands } from '../words.ts';
import { claimsTable } from './claims.ts';
import { html, type Markup } from './markup.ts';
import { statusMark } from './marks.ts';
import { shortName } from '../names.ts';

interface Played {
  readonly build: BuildReport;
  readonly played: CaseReport;
}

export function casePart(report: Report, id: string, series: readonly ArmSeries[]): Markup {
  const all = report.builds.flatMap((build) =>
    build.cases.filter((played) => played.id === id).map((played) => ({ build, played })),
  );
  const first = all[0]?.played;
  return html`<h3 id="case-${id}">${id} ${first && html`<small>${first.title}</small>`}</h3>
    <p class="size">${statuses(all)} ${first && sizeText(first)}</p>
    ${series.some((arm) => arm.case === id) && pictures(id, all, series)} ${claimsTable(report, id)}
    ${figures(id, all)}`;
}

/** Each status once, with the builds that have it. */
function statuses(all: readonly Played[]): Markup[] {
  const order = ['fail', 'allowed', 'unmeasured', 'pass'] as const;
  return order.flatMap((status) => {
    const builds = all
      .filter(({ played }) => caseMark(played) === status)
      .map(({ build }) => shortName(build));
    if (builds.length === 0) return [];
    return [html`<span class="chip">${statusMark(status)} ${builds.join(', ')}</span> `];
  });
}

function sizeText({ size }: CaseReport): string {
  const warmUp = size.warmUp > 0 ? ` after ${thousands(size.warmUp)} of warm-up` : '';
  return `${counted(size.sessions, 'session', 'sessions')}${warmUp}, ${thousands(size.concurrency)} at a time.`;
}

/** More sentences than this are not read beside a picture; the table below has them all. */
const MANY = 6;

function pictures(id: string, all: readonly Played[], series: readonly ArmSeries[]): Markup {
  const arms = series.filter((arm) => arm.case === id);
  const notes = arms.filter(({ note }) => note !== null);
  return html`<figure class="series" data-case="${id}" aria-labelledby="case-${id}">
    ${notes.map(({ build, note }) => html`<p class="summary"><b>${build}</b>: ${note}</p>`)}
    ${plot('sessions', html`Registered sessions`, summaryOf(all, sessionsSummary))}
    ${plot('memory', html`Process memory, MiB <small>the axis does not begin at 0</small>`, summaryOf(all, memorySummary))}
    ${plot('requests', html`Completed requests`, summaryOf(all, requestsSummary))}
    <figcaption>
      <div class="readout" hidden></div>
      <p class="downloads" hidden>
        <a data-download="case" data-case="${id}" download="${id}.csv" href="#case-${id}">${id}.csv</a>
        ${arms.some((arm) => arm.samples > arm.seconds.length) && html`<small>thinned; the recording has every sample</small>`}
      </p>
      <noscript>The pictures are drawn by a script, which is off here. The tables have the figures.</noscript>
    </figcaption>
  </figure>`;
}

const plot = (name: string, title: Markup, summary: Markup): Markup =>
  html`<div class="plot" data-plot="${name}">
    <h4>${title}</h4>
    ${summary}
    <div class="chart"></div>
  </div>`;

function summaryOf(all: readonly Played[], text: (played: CaseReport) => string): Markup {
  const more = all.length > MANY ? ` ${all.length - MANY} more in the table below.` : '';
  return html`<p class="summary">
    ${all.slice(0, MANY).map(({ build, played }) => html`<span><b>${shortName(build)}</b> ${text(played)}.</span> `)}${more}
  </p>`;
}

function sessionsSummary(played: CaseReport): string {
  const { sessions } = played;
  if (!sessions) return 'was not counted';
  const { min, max } = sessions.expected;
  const expected = min === max ? thousands(min) : `${thousands(min)} to ${thousands(max)}`;
  return `settled at ${thousands(sessions.registered)}, expected ${expected}: ${sessionsText(played)}`;
}

function memorySummary(played: CaseReport): string {
  const { startBytes, endBytes, kibPerSession } = played.memory;
  if (startBytes === null) return 'was not read';
  return `${mib(startBytes)} → ${mib(endBytes)} MiB${kibPerSession ? `, ${kibText(played)} KiB a session` : ''}`;
}

function requestsSummary({ requests }: CaseReport): string {
  const rate = requests.perSecond === null ? '' : `, ${requests.perSecond.toFixed(0)} a second under load`;
  const broken = requests.broken > 0 ? `, ${thousands(requests.broken)} broken` : '';
  return `${thousands(requests.completed)} completed${rate}${broken}`;
}

type Column = readonly [string, (played: CaseReport) => string];

const setting = (value: number | null | undefined, unit: string): string =>
  value === undefined ? 'not known' : value === null ? 'none' : `${thousands(value)}${unit}`;

const COLUMNS: readonly Column[] = [
  ['registered, settled', ({ sessions }) => (sessions ? thousands(sessions.registered) : '–')],
  [
    'expected',
    ({ sessions }) =>
      sessions ? `${thousands(sessions.expected.min)}–${thousands(sessions.expected.max)}` : '–',
  ],
  ['retention drift', ({ sessions }) => (sessions ? thousands(sessions.retentionDrift) : '–')],
  ['identity drift', ({ sessions }) => (sessions ? thousands(sessions.identityDrift) : '–')],
  ['remnants', ({ sessions }) => (sessions ? thousands(sessions.remnants) : '–')],
  [
    '1 kept seen in',
    ({ sessions }) => (sessions && sessions.detectionFloor > 0 ? thousands(sessions.detectionFloor) : '–'),
  ],
  ['opened', ({ ledger }) => thousands(ledger.opened)],
  ['deleted', ({ ledger }) => thousands(ledger.deleted)],
  ['abandoned', ({ ledger }) => thousands(ledger.abandoned)],
  ['refused', ({ ledger }) => thousands(ledger.refused)],
  ['uncertain', ({ ledger }) => thousands(ledger.uncertain)],
  [
    'MiB start → end (peak)',
    ({ memory }) => `${mib(memory.startBytes)} → ${mib(memory.endBytes)} (${mib(memory.peakBytes)})`,
  ],
  ['KiB per session', kibText],
  ['requests', ({ requests }) => thousands(requests.completed)],
  ['broken', ({ requests }) => thousands(requests.broken)],
  ['per second', ({ requests }) => requests.perSecond?.toFixed(1) ?? '–'],
  ['idle timeout', ({ settings }) => setting(settings.idleTimeoutSeconds, ' s')],
  ['cap', ({ settings }) => setting(settings.maxSessions, '')],
];

/** A row a figure: builds stand beside each other, as in the other tables. */
function figures(id: string, all: readonly Played[]): Markup | null {
  if (all.length === 0) return null;
  const capacities = all.flatMap(({ build, played }) => {
    const text = capacityText(played);
    return text === null ? [] : [html`<li>${shortName(build)}: ${text}.</li>`];
  });
  return html`<details>
    <summary>Figures of ${id}</summary>
    <div class="wide" tabindex="0" role="region" aria-label="Figures of ${id}">
      <table class="figures">
        <caption class="aside">
          Figures of ${id}
        </caption>
        <thead>
          <tr>
            <th scope="col">figure</th>
            ${all.map(({ build }) => html`<th scope="col">${shortName(build)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${COLUMNS.map(
            ([title, text]) =>
              html`<tr>
                <th scope="row">${title}</th>
                ${all.map(({ played }) => html`<td>${text(played)}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${
      capacities.length > 0 &&
      html`<ul>
        ${capacities}
      </ul>`
    }
  </details>`;
}
