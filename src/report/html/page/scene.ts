/** What the page shows now: the data, and which builds are drawn with which line. */
import type { ArmData, LiveData, PageData } from '../data.ts';
import { lineStyle, type LineStyle } from './theme.ts';

/** An arm that is drawn. */
export interface Drawn {
  readonly arm: ArmData;
  readonly label: string;
  readonly style: LineStyle;
}

const read = (id: string): unknown => JSON.parse(document.getElementById(id)?.textContent ?? 'null');

export class Scene {
  data: PageData = read('data') as PageData;
  report: LiveData['report'] = read('report');
  /** Build → slot of its line; builds without one are not drawn. */
  readonly #slots = new Map<string, number>();
  readonly #known = new Set<string>();

  constructor() {
    this.#welcome();
  }

  update({ data, report }: Pick<LiveData, 'data' | 'report'>): void {
    this.data = data;
    this.report = report;
    this.#welcome();
  }

  /** A build that was not there before is drawn if it is one to begin with. */
  #welcome(): void {
    for (const { name, shown } of this.data.builds) {
      if (this.#known.has(name)) continue;
      this.#known.add(name);
      if (shown) this.#show(name);
    }
  }

  #show(name: string): void {
    const taken = new Set(this.#slots.values());
    let slot = 0;
    while (taken.has(slot)) slot++;
    this.#slots.set(name, slot);
  }

  isShown(name: string): boolean {
    return this.#slots.has(name);
  }

  toggle(name: string): void {
    if (!this.#slots.delete(name)) this.#show(name);
  }

  styleOf(name: string): LineStyle | null {
    const slot = this.#slots.get(name);
    return slot === undefined ? null : lineStyle(slot);
  }

  armsOf(id: string): readonly ArmData[] {
    return this.data.cases.find((one) => one.id === id)?.arms ?? [];
  }

  nameOf(arm: ArmData): string {
    return this.data.builds[arm.build]?.name ?? '';
  }

  drawn(id: string): Drawn[] {
    return this.armsOf(id).flatMap((arm) => {
      const style = this.styleOf(this.nameOf(arm));
      const label = this.data.builds[arm.build]?.label ?? '';
      return style && arm.seconds.length > 0 ? [{ arm, label, style }] : [];
    });
  }
}
