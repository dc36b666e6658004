/** The builds that are drawn: a button each, with its line, that shows and hides it in all charts. */
import type { Scene } from './scene.ts';
import type { LineStyle } from './theme.ts';

const SVG = 'http://www.w3.org/2000/svg';

function swatch(style: LineStyle | null): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 28 10');
  svg.setAttribute('aria-hidden', 'true');
  if (style === null) return svg;
  const line = document.createElementNS(SVG, 'line');
  const places = {
    x1: 0,
    x2: 28,
    y1: 5,
    y2: 5,
    stroke: style.color,
    'stroke-width': 3,
    'stroke-dasharray': style.dash.join(' '),
  };
  for (const [name, value] of Object.entries(places)) line.setAttribute(name, String(value));
  svg.append(line);
  return svg;
}

/** @param changed is called after a build was shown or hidden */
export function drawBuilds(scene: Scene, changed: () => void): void {
  const host = document.querySelector<HTMLElement>('.builds');
  if (!host) return;
  host.hidden = scene.data.builds.length < 2;
  const focused =
    document.activeElement instanceof HTMLElement ? document.activeElement.dataset.build : undefined;
  host.replaceChildren(
    ...scene.data.builds.map(({ name }) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.dataset.build = name;
      button.setAttribute('aria-pressed', String(scene.isShown(name)));
      button.append(swatch(scene.styleOf(name)), name);
      button.addEventListener('click', () => {
        scene.toggle(name);
        drawBuilds(scene, changed);
        changed();
      });
      return button;
    }),
  );
  if (focused !== undefined)
    [...host.querySelectorAll('button')].find((button) => button.dataset.build === focused)?.focus();
}
