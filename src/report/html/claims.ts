/** The claims of one case: expected, observed and why; builds that agree stand in one row. */
import type { ClaimReport, Report } from '../../verdict/schema.ts';
import { groupBy } from '../words.ts';
import { html, type Markup } from './markup.ts';
import { claimMark, TONES } from './marks.ts';
import { shortName } from '../names.ts';

interface Finding {
  readonly build: string;
  readonly claim: ClaimReport;
}

export function claimsTable(report: Report, id: string): Markup | null {
  const findings: Finding[] = report.builds.flatMap((build) =>
    build.cases
      .filter((played) => played.id === id)
      .flatMap((played) => played.claims.map((claim) => ({ build: shortName(build), claim }))),
  );
  if (findings.length === 0) return null;
  const alone = report.builds.length === 1;
  return html`<table class="cards claims">
    <caption>
      Claims of ${id}
    </caption>
    <thead>
      <tr>
        <th scope="col">status</th>
        ${!alone && html`<th scope="col">builds</th>`}
        <th scope="col">expected</th>
        <th scope="col">observed</th>
        <th scope="col">reason</th>
      </tr>
    </thead>
    ${[...groupBy(findings, ({ claim }) => claim.id).values()].map((same) => claimRows(same, alone))}
  </table>`;
}

function claimRows(findings: readonly Finding[], alone: boolean): Markup {
  const [first] = findings;
  const rows = groupBy(findings, ({ claim }) =>
    // What was seen of a pass differs in numbers that mean the same.
    JSON.stringify([
      claim.status,
      claim.promised,
      claim.expected,
      claim.status === 'pass' || claim.observed,
      claim.reason,
      claim.allowed,
    ]),
  );
  return html`<tbody>
    <tr class="claim">
      <th scope="rowgroup" colspan="${alone ? 4 : 5}">
        <code>${first?.claim.id ?? ''}</code> <span class="says">${first?.claim.says ?? ''}</span>
      </th>
    </tr>
    ${[...rows.values()].map((same) => row(same, alone))}
  </tbody>`;
}

function row(same: readonly Finding[], alone: boolean): Markup | null {
  const claim = same[0]?.claim;
  if (!claim) return null;
  const tone = claim.allowed === null ? TONES[claim.status] : 'open';
  return html`<tr class="${tone}">
    <td data-label="status">${claimMark(claim)}</td>
    ${!alone && html`<td data-label="builds">${same.map(({ build }) => build).join(', ')}</td>`}
    <td data-label="expected">${claim.expected}</td>
    <td data-label="observed">${[...new Set(same.map((one) => one.claim.observed))].join(' · ')}</td>
    ${reasonCell(claim)}
  </tr>`;
}

const reasonCell = ({ reason, allowed }: ClaimReport): Markup =>
  reason === '' && allowed === null
    ? html`<td class="empty"></td>`
    : html`<td data-label="reason">${reason}${allowed !== null && html` <b>Allowed:</b> “${allowed}”`}</td>`;
