/** One case on the page: its charts, kept while their data changes. */
import type uPlot from 'uplot';
import { chart } from './chart.ts';
import { hide, moved, place, readOut, spoken } from './cursor.ts';
import type { Drawn, Scene } from './scene.ts';
import { endOf, PLOTS, type PlotName } from './series.ts';

const PLOT_WORDS: Record<PlotName, string> = {
  sessions: 'Registered sessions',
  memory: 'Process memory',
  requests: 'Completed requests',
};

export class CaseView {
  readonly figure: HTMLElement;
  readonly id: string;
  readonly #scene: Scene;
  readonly #say: (text: string) => void;
  #plots: { readonly plot: PlotName; readonly host: HTMLElement; readonly u: uPlot }[] = [];
  #drawn: readonly Drawn[] = [];
  #at: number | null = null;

  /**
   * @param say reads a sentence to a screen reader
   * @param before of the same case, in a figure that was replaced: its cursor goes on here
   */
  constructor(figure: HTMLElement, scene: Scene, say: (text: string) => void, before?: CaseView) {
    this.#at = before ? before.#at : null;
    this.figure = figure;
    this.id = figure.dataset.case ?? '';
    this.#scene = scene;
    this.#say = say;
    for (const plot of PLOTS) {
      const host = this.#host(plot);
      if (!host) continue;
      host.tabIndex = 0;
      host.setAttribute('role', 'slider');
      host.setAttribute('aria-label', `${PLOT_WORDS[plot]} of ${this.id}: cursor over time`);
      host.addEventListener('keydown', (event) => this.#onKey(event, plot));
    }
  }

  get plots(): readonly uPlot[] {
    return this.#plots.map(({ u }) => u);
  }

  /** The chart that has the focus. */
  focused(): PlotName | undefined {
    return PLOTS.find((plot) => this.#host(plot) === document.activeElement);
  }

  focus(plot: PlotName): void {
    this.#host(plot)?.focus({ preventScroll: true });
  }

  #host(plot: PlotName): HTMLElement | null {
    return this.figure.querySelector<HTMLElement>(`[data-plot="${plot}"] .chart`);
  }

  #readout(): HTMLElement | null {
    return this.figure.querySelector<HTMLElement>('.readout');
  }

  get #end(): number {
    return Math.max(0.001, ...this.#drawn.map(({ arm }) => endOf(arm)));
  }

  /** Draws all anew. @param width CSS pixels; default: what there is */
  draw(width?: number): void {
    this.clear();
    this.#drawn = this.#scene.drawn(this.id);
    for (const plot of PLOTS) {
      const host = this.#host(plot);
      if (!host) continue;
      if (this.#drawn.length === 0) {
        host.replaceChildren('No build of this case is drawn.');
        continue;
      }
      host.replaceChildren();
      const options = {
        host,
        plot,
        id: this.id,
        drawn: this.#drawn,
        width: width ?? Math.floor(host.clientWidth),
      };
      const onCursor = (at: number | null): void => this.#show(at);
      this.#plots.push({ plot, host, u: chart({ ...options, onCursor }) });
    }
    this.#show(this.#at);
    this.#restore();
  }

  #restore(): void {
    const first = this.#plots[0];
    if (first && this.#at !== null) place(first.u, Math.min(this.#at, this.#end));
  }

  clear(): void {
    const at = this.#at;
    for (const { u } of this.#plots) u.destroy();
    this.#plots = [];
    this.#at = at;
  }

  #show(at: number | null): void {
    this.#at = at;
    for (const { host } of this.#plots) {
      host.setAttribute('aria-valuemin', '0');
      host.setAttribute('aria-valuemax', this.#end.toFixed(2));
      host.setAttribute('aria-valuenow', (at ?? 0).toFixed(2));
      host.setAttribute('aria-valuetext', at === null ? 'no moment is chosen' : `${at.toFixed(2)} s`);
    }
    const readout = this.#readout();
    if (!readout) return;
    readout.hidden = false;
    readOut(readout, this.#drawn, at);
  }

  #onKey(event: KeyboardEvent, plot: PlotName): void {
    const focused = this.#plots.find((one) => one.plot === plot);
    if (!focused || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      hide(focused.u);
      return;
    }
    const at = moved(event.key, this.#at, this.#end);
    if (at === null) return;
    event.preventDefault();
    place(focused.u, at);
    this.#say(spoken(plot, this.#drawn, at));
  }
}
