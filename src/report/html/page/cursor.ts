/** The cursor over a case's charts: by mouse or by keys, read out below the charts and to screen readers. */
import type uPlot from 'uplot';
import type { ArmData } from '../data.ts';
import type { Drawn } from './scene.ts';
import { endOf, phaseAt, placeAt, type PlotName } from './series.ts';

const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : value.toLocaleString('en-US', { maximumFractionDigits: 1 });

const seconds = (value: number): string => `${value.toFixed(2)} s`;

function expected(least: number | null | undefined, most: number | null | undefined): string {
  return least === most ? number(least) : `${number(least)} to ${number(most)}`;
}

/** The last one where no moment is chosen; none after the arm's end. */
function phaseText(arm: ArmData, at: number | null): string {
  if (at === null) return arm.phases.at(-1)?.phase ?? '–';
  return at >= endOf(arm) ? '–' : phaseAt(arm, at);
}

/** A row for each build: what its last sample before the cursor says; without one, its very last. */
export function readOut(host: HTMLElement, drawn: readonly Drawn[], at: number | null): void {
  const table = document.createElement('table');
  const head = table.createTHead().insertRow();
  for (const title of [
    at === null ? 'at the end' : seconds(at),
    'phase',
    'registered',
    'expected',
    'MiB',
    'requests',
  ]) {
    const cell = document.createElement('th');
    cell.scope = 'col';
    cell.textContent = title;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const { arm, label, style } of drawn) {
    const row = body.insertRow();
    const name = document.createElement('th');
    name.scope = 'row';
    name.textContent = label;
    name.style.borderLeft = `4px solid ${style.color}`;
    row.append(name);
    const moment = at ?? endOf(arm);
    const i = placeAt(arm, moment);
    const texts = [
      phaseText(arm, at),
      number(arm.registered[i]),
      expected(arm.expectedMin[i], arm.expectedMax[i]),
      number(arm.memoryMib[i]),
      number(arm.requests[i]),
    ];
    for (const text of texts) row.insertCell().textContent = text;
  }
  host.replaceChildren(table);
}

/** The same for one chart, as a sentence. */
export function spoken(plot: PlotName, drawn: readonly Drawn[], at: number): string {
  const parts = drawn.map(({ arm, label }) => {
    const i = placeAt(arm, at);
    if (plot === 'memory') return `${label}: ${number(arm.memoryMib[i])} MiB`;
    if (plot === 'requests') return `${label}: ${number(arm.requests[i])} requests`;
    return `${label}: ${number(arm.registered[i])} registered, ${expected(arm.expectedMin[i], arm.expectedMax[i])} expected`;
  });
  const first = drawn[0];
  return `${seconds(at)}${first ? `, ${phaseAt(first.arm, at)}` : ''}. ${parts.join('. ')}.`;
}

const STEPS: Record<string, number> = {
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  PageUp: 0.1,
  PageDown: -0.1,
  Home: -Infinity,
  End: Infinity,
};

/** Where a key moves the cursor, in seconds; null for keys that move nothing. */
export function moved(key: string, at: number | null, end: number): number | null {
  const step = STEPS[key];
  if (step === undefined) return null;
  const from = at ?? (step > 0 ? -step * end : end);
  return Math.min(end, Math.max(0, from + step * end));
}

export function place(u: uPlot, at: number): void {
  u.setCursor({ left: u.valToPos(at, 'x'), top: 1 });
}

export function hide(u: uPlot): void {
  u.setCursor({ left: -10, top: -10 });
}
