/** A page that is served while the run goes on: asks for what is new until the run is over. */
import type { LiveData } from '../data.ts';

const EVERY_MS = 1000;
/** A server that is only slow answers within these. */
const TRIES = 3;

/** Puts in what changed. */
export function replaceParts({ parts, navigation }: LiveData): void {
  const main = document.getElementById('main');
  const nav = document.querySelector('nav');
  if (!main || !nav) return;
  replaceText(nav, navigation);
  for (const section of main.querySelectorAll<HTMLElement>('[data-part]'))
    if (!Object.hasOwn(parts, section.dataset.part ?? '')) section.remove();
  let before: Element | null = null;
  for (const [id, text] of Object.entries(parts)) {
    const known: HTMLElement | null = main.querySelector(`[data-part="${CSS.escape(id)}"]`);
    const section: HTMLElement = known ?? newSection(id);
    if (known === null) {
      if (before) before.after(section);
      else main.prepend(section);
    }
    replaceText(section, text);
    before = section;
  }
}

function newSection(id: string): HTMLElement {
  const section = document.createElement('section');
  section.id = `part-${id}`;
  section.dataset.part = id;
  if (id.startsWith('case-')) section.className = 'case';
  return section;
}

const shownText = new WeakMap<HTMLElement, string>();

/** What the reader had opened stays open. */
function replaceText(section: HTMLElement, text: string): void {
  if (shownText.get(section) === text) return;
  const open = new Set(
    [...section.querySelectorAll('details[open] > summary')].map((summary) => summary.textContent),
  );
  // The server is the same that made the page, and escapes in both alike.
  section.innerHTML = text;
  for (const details of section.querySelectorAll('details'))
    details.open = open.has(details.querySelector('summary')?.textContent ?? '');
  shownText.set(section, text);
}

function tell(state: 'running' | 'over' | 'lost', text: string): void {
  const host = document.querySelector<HTMLElement>('.live');
  if (!host || host.dataset.state === state) return;
  host.dataset.state = state;
  host.textContent = text;
}

/** @param show takes over what came */
export function follow(show: (live: LiveData) => void): void {
  let failures = 0;
  const ask = async (): Promise<void> => {
    try {
      const response = await fetch('data.json', { cache: 'no-store' });
      if (!response.ok) throw new Error(String(response.status));
      const live = (await response.json()) as LiveData;
      failures = 0;
      show(live);
      if (!live.running) {
        tell('over', 'The run is over: this is its report.');
        return;
      }
    } catch {
      failures++;
      if (failures >= TRIES) {
        tell('lost', 'The run cannot be reached any more: this is the last that was seen of it.');
        return;
      }
    }
    setTimeout(() => void ask(), EVERY_MS);
  };
  void ask();
}
