/** The page around the parts: one file that loads nothing, under a policy that lets it load nothing. */
import { createHash } from 'node:crypto';
import { SCRIPT, STYLE } from './assets.generated.ts';
import type { PageData } from './data.ts';
import { html, scriptJson, trusted, type Markup } from './markup.ts';
import type { Part } from './parts.ts';

export interface DocumentOptions {
  readonly title: string;
  readonly parts: readonly Part[];
  readonly data: PageData;
  readonly report: unknown;
  /** Served while the run goes on: the page may ask its own server for more. */
  readonly live: boolean;
}

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing but this script and this style; `connect-src` for a page that is served while a run goes on. */
export const policy = (live: boolean): string =>
  [
    `default-src 'none'`,
    `script-src ${digest(SCRIPT)}`,
    `style-src ${digest(STYLE)}`,
    `img-src data:`,
    `base-uri 'none'`,
    `form-action 'none'`,
    ...(live ? [`connect-src 'self'`] : []),
  ].join('; ');

/** Without it a browser asks the server for an icon. */
const ICON =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 13h14M2 11l4-4 3 2 5-6" fill="none" stroke="#0072b2" stroke-width="2"/></svg>',
  );

/** Put together as text: not a blank may come between an element that is allowed by its digest and what it holds. */
const verbatim = (element: string, attributes: string, { text }: Markup): Markup =>
  trusted(`<${element}${attributes}>${text}</${element}>`);

export function pageDocument({ title, parts, data, report, live }: DocumentOptions): string {
  const page = html`<!doctype html>
    <html lang="en" ${live && trusted('data-live')}>
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${trusted(policy(live))}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <link rel="icon" href="${ICON}" />
        ${verbatim('style', '', trusted(STYLE))}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the verdict</a>
        ${live && html`<div class="live" role="status" data-state="running">Running: the page follows.</div>`}
        <nav aria-label="Parts of the report">${navigation(parts)}</nav>
        <main id="main" tabindex="-1">${parts.map(section)}</main>
        <footer><p>The charts are drawn by uPlot (MIT license, in this file’s script).</p></footer>
        ${verbatim('script', ' type="application/json" id="data"', scriptJson(data))}
        ${verbatim('script', ' type="application/json" id="report"', scriptJson(report))}
        ${verbatim('script', '', trusted(SCRIPT))}
      </body>
    </html>`;
  return page.text + '\n';
}

const section = ({ id, content }: Part): Markup =>
  html`<section id="part-${id}" data-part="${id}" class="${id.startsWith('case-') && 'case'}">
    ${content}
  </section>`;

export function navigation(parts: readonly Part[]): Markup {
  const linked = parts.flatMap(({ link }) => (link === null ? [] : [link]));
  return html`<ul>
    ${linked.map(({ href, text }) => html`<li><a href="${href}">${text}</a></li>`)}
  </ul>`;
}
