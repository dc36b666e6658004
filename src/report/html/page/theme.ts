/** Colours and dashes. They stand in the style sheet, so that a chart follows light, dark and print. */

export const FONT = '12px system-ui, sans-serif';

/** A custom property of the style sheet. */
export const color = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** As many as the style sheet has (`--build-0` …). */
const COLORS = 7;
const DASHES: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [14, 4]];

/** A line of its own for each slot: neighbours differ in colour and in dashes. */
export interface LineStyle {
  readonly color: string;
  readonly dash: readonly number[];
}

export const lineStyle = (slot: number): LineStyle => ({
  color: color(`build-${slot % COLORS}`),
  dash: DASHES[slot % DASHES.length] ?? [],
});

/** `#rrggbb` with an opacity from 0 to 1. */
export const faint = (hex: string, opacity: number): string =>
  hex +
  Math.round(opacity * 255)
    .toString(16)
    .padStart(2, '0');
