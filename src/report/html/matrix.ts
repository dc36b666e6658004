/** All cases and builds on one look: what each keeps. */
import type { CaseReport, Report } from '../../verdict/schema.ts';
import { caseMark, failedClaims, sessionsText, thousands } from '../words.ts';
import { html, type Markup } from './markup.ts';
import { statusMark, statusSign, TONES } from './marks.ts';
import { shortName } from '../names.ts';

export function matrix(report: Report): Markup | null {
  const ids = [...new Set(report.builds.flatMap((build) => build.cases.map((played) => played.id)))];
  if (ids.length === 0) return null;
  return html`<div class="wide" tabindex="0" role="region" aria-label="Registered sessions by case and build">
    <table class="matrix">
      <caption>
        Registered sessions once each case had settled:
        <b>kept</b>
        should be gone,
        <b>open</b>
        is rightly there,
        <b>lost</b>
        should be there
      </caption>
      <thead>
        <tr>
          <th scope="col">case</th>
          ${report.builds.map((build) => html`<th scope="col">${shortName(build)}${role(report, build.name)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${ids.map(
          (id) =>
            html`<tr>
              <th scope="row"><a href="#case-${id}">${id}</a></th>
              ${report.builds.map((build) => cell(build.cases.find((played) => played.id === id)))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function role({ comparison }: Report, name: string): Markup | null {
  if (name === comparison?.baseline) return html`<span class="role">baseline</span>`;
  return name === comparison?.candidate ? html`<span class="role">candidate</span>` : null;
}

function cell(played: CaseReport | undefined): Markup {
  if (!played) return html`<td class="plain">not played</td>`;
  const failed = played.status === 'fail' ? failedClaims(played) : [];
  const remnants = played.sessions?.remnants ?? 0;
  const status = caseMark(played);
  return html`<td class="${TONES[status]}">
    ${played.sessions ? html`${statusSign(status)}<b>${sessionsText(played)}</b>` : statusMark(status)}
    ${failed.map((claim) => html`<br /><code>${claim}</code>`)}
    ${remnants > 0 && html`<br /><small>${thousands(remnants)} remnants</small>`}
  </td>`;
}
