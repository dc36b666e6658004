/** The page's first part: the verdict, and what led to it. */
import type { ClaimReport, Report } from '../../verdict/schema.ts';
import { ALLOWANCE_WORDS, allowanceState } from '../comparison-words.ts';
import { counted, failedByClaim, namesItself, unmeasuredByReason, type SharedReason } from '../words.ts';
import { briefOf, comparisonFindings, sidesOf } from './comparison.ts';
import { headlineOf } from './headline.ts';
import { html, type Markup } from './markup.ts';
import { mark, sign, type Tone } from './marks.ts';
import { matrix } from './matrix.ts';
import { shortName } from '../names.ts';

const TONE_WORDS: Record<Tone, string> = { good: 'pass', bad: 'fail', open: 'undecided', plain: '' };

/** @param running the run goes on: what is said is about the cases that are over */
export function heroPart(report: Report, running: boolean): Markup {
  const { tone, kind, text, lead } = headlineOf(report);
  const shown = running ? 'plain' : tone;
  return html`<div class="hero ${shown}">
    <p class="kind">${kind}</p>
    <h1>${sign(shown, TONE_WORDS[shown])}${running ? runningText(report) : text}</h1>
    ${!running && lead !== '' && html`<p class="lead">${lead}</p>`}
    ${report.comparison && [sidesOf(report, report.comparison), briefOf(report.comparison)]}
    <p class="when">${whenText(report)}</p>
  </div>`;
}

function runningText({ builds }: Report): string {
  const over = builds.reduce((sum, build) => sum + build.cases.length, 0);
  return over === 0
    ? 'Running; nothing is judged yet.'
    : `Running; ${counted(over, 'arm is', 'arms are')} judged so far.`;
}

function whenText({ startedAt, tool, host }: Report): string {
  const when = startedAt.replace('T', ' ').replace(/(:\d\d)\.\d+Z$/, '$1 UTC');
  return `${when} · ${tool.name} ${tool.version} · ${String(host.os ?? '')} ${String(host.arch ?? '')}, ${String(host.cpus ?? '?')} CPUs`;
}

export function findingsPart(report: Report): Markup {
  return html`${report.timeline === null && report.builds.length > 0 && matrix(report)}
  ${report.comparison ? comparisonFindings(report.comparison) : claimFindings(report)} ${allowances(report)}`;
}

function claimFindings(report: Report): Markup {
  const promised = unmeasuredWhere(report, (claim) => claim.promised);
  const others = unmeasuredWhere(report, (claim) => !claim.promised);
  return html`${report.timeline === null && failures(report)}
  ${
    promised.length > 0 &&
    html`<h2>Not measured</h2>
      ${reasonList('open', promised, report)}`
  }
  ${
    others.length > 0 &&
    html`<details>
      <summary>What this kind of target cannot be asked</summary>
      ${reasonList('plain', others, report)}
    </details>`
  }`;
}

function failures(report: Report): Markup | null {
  const failed = failedByClaim(report);
  if (failed.length === 0) return null;
  return html`<h2 id="failed">Failed claims <span class="count">${failed.length}</span></h2>
    <ul class="findings">
      ${failed.map(({ name, says, allowed, reasons }) => {
        const tone = allowed === null ? 'bad' : 'open';
        return html`<li class="${tone}">
          <p>
            ${mark(tone, allowed === null ? '' : 'allowed')}<code>${name}</code>
            <span class="says">${says}</span>
          </p>
          ${reasons.map((one) => html`<p class="reason">${withBuilds(one, report)}</p>`)}
        </li>`;
      })}
    </ul>`;
}

function unmeasuredWhere(report: Report, wanted: (claim: ClaimReport) => boolean): SharedReason[] {
  const builds = report.builds.map((build) => ({
    ...build,
    cases: build.cases.map((played) => ({ ...played, claims: played.claims.filter(wanted) })),
  }));
  return unmeasuredByReason({ ...report, builds });
}

const MANY = 6;

const reasonList = (tone: Tone, reasons: readonly SharedReason[], report: Report): Markup =>
  html`<ul class="findings">
    ${reasons.map(
      (one) =>
        html`<li class="${tone}">
          <p>${withBuilds(one, report)}</p>
          <p class="reason">${claimsText(one.claims)}</p>
        </li>`,
    )}
  </ul>`;

const claimsText = (claims: readonly string[]): Markup =>
  html`${claims.slice(0, MANY).map((claim, i) => html`${i > 0 && ', '}<code>${claim}</code>`)}${
    claims.length > MANY && ` and ${claims.length - MANY} more claims`
  }`;

function withBuilds(one: SharedReason, report: Report): Markup {
  if (namesItself(one)) return html`${one.reason}`;
  const names = one.builds.map((name) =>
    shortName(report.builds.find((build) => build.name === name) ?? { name, version: null }),
  );
  return html`<b>${names.join(', ')}</b>: ${one.reason}`;
}

/** Failures that the configuration allows, and allowances that nothing needs any more. */
function allowances(report: Report): Markup | null {
  if (report.allowances.length === 0) return null;
  return html`<h2 id="allowed">Allowances</h2>
    <ul class="findings">
      ${report.allowances.map((allowance) => {
        const state = allowanceState(report, allowance);
        const tone: Tone = state === 'stale' ? 'bad' : state === 'used' ? 'open' : 'plain';
        return html`<li class="${tone}">
          <p>${mark(tone, '')}<code>${allowance.claim}</code> ${ALLOWANCE_WORDS[state]}</p>
          <p class="reason">Reason given: “${allowance.reason}”</p>
        </li>`;
      })}
    </ul>`;
}
