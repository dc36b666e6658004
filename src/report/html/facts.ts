/** What differed between the builds, and what else a reader needs to know to trust the figures. */
import type { BuildReport, Report } from '../../verdict/schema.ts';
import { floorText } from '../words.ts';
import { html, type Markup } from './markup.ts';
import { mark } from './marks.ts';
import { shortName } from '../names.ts';

interface Difference {
  readonly name: string;
  readonly values: readonly (string | null)[];
}

export function differencesPart(report: Report): Markup | null {
  const builds = report.builds.filter(
    ({ packages, config }) => Object.keys({ ...packages, ...config }).length > 0,
  );
  if (builds.length < 2) return null;
  const { names, rows } = report.comparison
    ? comparedBy(report, report.comparison.differences)
    : { names: builds.map(shortName), rows: differing(builds) };
  return html`<h2 id="differences">What differed between the builds</h2>
    ${
      rows.length === 0
        ? html`<p>Nothing that is known: the same packages and configuration.</p>`
        : html`<div class="wide" tabindex="0" role="region" aria-label="What differed between the builds">
            <table class="figures">
              <caption>
                Packages and configuration that are not the same for all; – is not there
              </caption>
              <thead>
                <tr>
                  <th scope="col">name</th>
                  ${names.map((name) => html`<th scope="col">${name}</th>`)}
                </tr>
              </thead>
              <tbody>
                ${rows.map(
                  ({ name, values }) =>
                    html`<tr>
                      <th scope="row">${name}</th>
                      ${values.map((value) => html`<td>${value ?? '–'}</td>`)}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }`;
}

function comparedBy(
  { comparison }: Report,
  differences: NonNullable<Report['comparison']>['differences'],
): { names: string[]; rows: Difference[] } {
  return {
    names: [`baseline (${comparison?.baseline ?? ''})`, `candidate (${comparison?.candidate ?? ''})`],
    rows: differences.map(({ name, baseline, candidate }) => ({ name, values: [baseline, candidate] })),
  };
}

function differing(builds: readonly BuildReport[]): Difference[] {
  const facts = builds.map(({ packages, config }): Record<string, BuildReport['config'][string]> => ({
    ...packages,
    ...config,
  }));
  const names = [...new Set(facts.flatMap((fact) => Object.keys(fact)))].sort();
  return names
    .map((name) => ({
      name,
      values: facts.map((fact) => (fact[name] === undefined ? null : String(fact[name]))),
    }))
    .filter(({ values }) => new Set(values).size > 1);
}

const HOST_WORDS: Record<string, string> = {
  os: 'system',
  arch: 'architecture',
  cpus: 'CPUs',
  memoryBytes: 'memory',
  node: 'Node.js',
};

export function factsPart(report: Report): Markup {
  const { tool, host, startedAt } = report;
  const hostFacts = Object.entries(host).map(([name, value]) => [
    HOST_WORDS[name] ?? name,
    name === 'memoryBytes' ? `${(Number(value) / 1024 ** 3).toFixed(1)} GiB` : String(value),
  ]);
  const facts = [['tool', `${tool.name} ${tool.version}`], ['started', startedAt], ...hostFacts];
  return html`<h2 id="about">About the measurement</h2>
    <p>${floorText(report)}</p>
    ${report.notices.length > 0 && notices(report)}
    <dl class="facts">
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name ?? ''}</dt>
            <dd>${value ?? ''}</dd>
          </div>`,
      )}
    </dl>
    ${builds(report)}
    <p class="downloads" hidden>
      <a data-download="report" download="report.json" href="#about">report.json</a>
    </p>`;
}

const notices = (report: Report): Markup =>
  html`<ul class="findings">
    ${report.notices.map(({ build, case: id, text }) => {
      const where = [build, id].filter((part) => part !== null).join(', ');
      return html`<li class="open">
        <p>${mark('open', 'note')} ${where !== '' && html`<b>${where}:</b> `}${text}</p>
      </li>`;
    })}
  </ul>`;

function builds(report: Report): Markup[] {
  return report.builds.map((build) => {
    const { name, kind, sdk, version, packages, config } = build;
    const settings = Object.entries(config).map(([key, value]) => `${key} = ${String(value)}`);
    const installed = Object.entries(packages).map(([key, value]) => `${key} ${value}`);
    const about = [kind, sdk !== null && `SDK ${sdk}`, version !== null && `version ${version}`].filter(
      (part) => part !== false,
    );
    return html`<details>
      <summary>${name} <small>${about.join(', ')}</small></summary>
      <p>Configuration: ${settings.join('; ') || 'the defaults'}</p>
      <p>Installed: ${installed.join('; ') || 'not known'}</p>
    </details>`;
  });
}
