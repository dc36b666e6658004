/** Brings the page to life: charts, their cursor, downloads; and, while a run goes on, what is new. */
import { drawBuilds } from './builds.ts';
import { CaseView } from './case-view.ts';
import { linkDownloads } from './downloads.ts';
import { follow, replaceParts } from './live.ts';
import { Scene } from './scene.ts';

/** Width of a chart on paper, CSS pixels: A4 and Letter with their margins. */
const PAPER_WIDTH = 660;

const scene = new Scene();
let views: CaseView[] = [];

const said = document.createElement('p');
said.className = 'aside';
said.setAttribute('aria-live', 'polite');
document.body.append(said);
const say = (text: string): void => {
  said.textContent = text;
};

function drawAll(width?: number): void {
  for (const view of views) view.draw(width);
}

/** Figures that came or went with new data; a case that stayed keeps its cursor. */
function collect(): void {
  const figures = [...document.querySelectorAll<HTMLElement>('figure.series')];
  const before = views;
  for (const view of before) if (!figures.includes(view.figure)) view.clear();
  views = figures.map(
    (figure) =>
      before.find((view) => view.figure === figure) ??
      new CaseView(
        figure,
        scene,
        say,
        before.find(({ id }) => id === figure.dataset.case),
      ),
  );
}

function refresh(): void {
  collect();
  for (const element of document.querySelectorAll('.script-only')) element.removeAttribute('hidden');
  drawBuilds(scene, drawAll);
  linkDownloads(scene);
  drawAll();
}

let width = 0;
let printing = false;
new ResizeObserver(() => {
  const main = document.getElementById('main');
  if (!main || main.clientWidth === width || printing) return;
  width = main.clientWidth;
  drawAll();
}).observe(document.body);

/** Charts do not follow the style sheet by themselves. */
function repaint(chartWidth?: number): void {
  drawBuilds(scene, drawAll);
  drawAll(chartWidth);
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => repaint());
addEventListener('beforeprint', () => {
  printing = true;
  document.documentElement.dataset.theme = 'light';
  repaint(PAPER_WIDTH);
});
addEventListener('afterprint', () => {
  printing = false;
  delete document.documentElement.dataset.theme;
  repaint();
});

refresh();
if (document.documentElement.hasAttribute('data-live'))
  follow((live) => {
    const focused = views
      .map((view) => ({ id: view.id, plot: view.focused() }))
      .find(({ plot }) => plot !== undefined);
    scene.update(live);
    replaceParts(live);
    refresh();
    if (focused?.plot) views.find(({ id }) => id === focused.id)?.focus(focused.plot);
    document.title = live.title;
  });
