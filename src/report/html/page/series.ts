/** The three series as columns and lines of a chart. */
import uPlot from 'uplot';
import type { ArmData } from '../data.ts';
import type { Drawn } from './scene.ts';
import { faint } from './theme.ts';

export type PlotName = 'sessions' | 'memory' | 'requests';

export const PLOTS: readonly PlotName[] = ['sessions', 'memory', 'requests'];

type Column = readonly (number | null)[];

/** The line that stands for a build in a chart comes first. */
export function columnsOf(plot: PlotName, arm: ArmData): readonly Column[] {
  if (plot === 'memory') return [arm.memoryMib];
  if (plot === 'requests') return [arm.requests];
  return [arm.registered, arm.expectedMax, arm.expectedMin];
}

/** All arms on one axis; where an arm has no sample of its own, its line goes on. */
export function aligned(plot: PlotName, drawn: readonly Drawn[]): uPlot.AlignedData {
  const tables = drawn.map(
    ({ arm }) => [arm.seconds, ...columnsOf(plot, arm)] as unknown as uPlot.AlignedData,
  );
  return uPlot.join(tables);
}

const EXPECTED_WIDTH = 1;
const LINE_WIDTH = 2.25;
const DRIFT_OPACITY = 0.24;

export function linesOf(plot: PlotName, drawn: readonly Drawn[]): uPlot.Series[] {
  return drawn.flatMap(({ arm, label, style }) =>
    columnsOf(plot, arm).map((column, i) => ({
      label: i === 0 ? label : `${label}, expected`,
      stroke: i === 0 ? style.color : faint(style.color, 0.75),
      width: i === 0 ? LINE_WIDTH : EXPECTED_WIDTH,
      dash: [...style.dash],
      // A single sample is no line.
      points: { show: column.filter((value) => value !== null).length === 1 },
    })),
  );
}

/** Retention drift: above what is expected at most, and below what is expected at least. */
export function driftBands(drawn: readonly Drawn[]): uPlot.Band[] {
  return drawn.flatMap(({ style }, i) => {
    const [registered, most, least] = [1 + 3 * i, 2 + 3 * i, 3 + 3 * i] as const;
    const fill = faint(style.color, DRIFT_OPACITY);
    return [
      { series: [registered, most], fill, dir: -1 as const },
      { series: [least, registered], fill, dir: -1 as const },
    ];
  });
}

/** The place of the last sample at or before a time; the first where none is. */
export function placeAt(arm: ArmData, seconds: number): number {
  let low = 0;
  let high = arm.seconds.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((arm.seconds[middle] ?? 0) <= seconds) low = middle;
    else high = middle - 1;
  }
  return low;
}

export const phaseAt = (arm: ArmData, seconds: number): string =>
  arm.phases.find(({ from, to }) => seconds >= from && seconds < to)?.phase ??
  (seconds > 0 ? 'end' : 'start');

export const endOf = (arm: ArmData): number =>
  Math.max(arm.seconds.at(-1) ?? 0, arm.phases.at(-1)?.to ?? 0, arm.restarts.at(-1) ?? 0);
