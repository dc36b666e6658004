/** The charts of one case: three series, one axis. */
import uPlot from 'uplot';
import { labelRoom, markRestarts, nameLines, namePhases, PHASE_ROWS, shadePhases } from './overlay.ts';
import type { Drawn } from './scene.ts';
import { aligned, driftBands, endOf, linesOf, type PlotName } from './series.ts';
import { color, FONT } from './theme.ts';

const HEIGHTS: Record<PlotName, number> = { sessions: 260, memory: 140, requests: 165 };
const LEFT = 50;
const RIGHT_LEAST = 12;
/** Narrower than this, names at the lines' ends would leave no room for the lines. */
const NARROW = 300;

/** An axis that begins at 0 shows counts as they are; of memory it would hide what moves. */
function yRange(plot: PlotName, least: number | null, most: number | null): [number, number] {
  const top = most ?? 0;
  if (plot !== 'memory') return [0, Math.max(1, top) * 1.06];
  const bottom = least ?? 0;
  const span = Math.max(top - bottom, top * 0.2, 1);
  const middle = (top + bottom) / 2;
  return [Math.max(0, middle - span * 0.6), middle + span * 0.6];
}

/** `1,500`, `120K`: what fits beside the axis. */
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** Counts have no halves. */
const STEPS = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) => [1, 2, 5].map((n) => n * 10 ** power));

function axes(plot: PlotName): uPlot.Axis[] {
  const common: uPlot.Axis = {
    stroke: color('muted'),
    font: FONT,
    grid: { stroke: color('grid'), width: 1 },
    ticks: { stroke: color('grid'), width: 1, size: 4 },
  };
  const isLast = plot === 'requests';
  return [
    {
      ...common,
      size: isLast ? 36 : 8,
      gap: 2,
      values: (_, splits) => splits.map((seconds) => (isLast ? `${seconds} s` : '')),
    },
    {
      ...common,
      size: LEFT,
      gap: 4,
      space: 26,
      incrs: STEPS,
      values: (_, splits) =>
        splits.map((value) => (value < 100_000 ? value.toLocaleString('en-US') : compact.format(value))),
    },
  ];
}

export interface ChartOptions {
  readonly host: HTMLElement;
  readonly plot: PlotName;
  readonly id: string;
  readonly drawn: readonly Drawn[];
  readonly width: number;
  /** Hears where the cursor is, in seconds; null when it is gone. */
  readonly onCursor: (seconds: number | null) => void;
}

export function chart({ host, plot, id, drawn, width, onCursor }: ChartOptions): uPlot {
  const isFirst = plot === 'sessions';
  const end = Math.max(0.001, ...drawn.map(({ arm }) => endOf(arm)));
  const room = width < NARROW ? RIGHT_LEAST : Math.max(RIGHT_LEAST, labelRoom(drawn, width));
  const options: uPlot.Options = {
    width,
    height: HEIGHTS[plot],
    padding: [isFirst ? 8 + PHASE_ROWS * 13 : 6, room, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: () => [0, end] },
      y: { range: (_, least, most) => yRange(plot, least, most) },
    },
    axes: axes(plot),
    series: [{}, ...linesOf(plot, drawn)],
    ...(isFirst && { bands: driftBands(drawn) }),
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: false, y: false },
      sync: { key: `case ${id}`, setSeries: false, scales: ['x', null] },
    },
    hooks: hooksOf(plot, drawn, room, onCursor),
  };
  return new uPlot(options, aligned(plot, drawn), host);
}

function hooksOf(
  plot: PlotName,
  drawn: readonly Drawn[],
  room: number,
  onCursor: ChartOptions['onCursor'],
): uPlot.Hooks.Arrays {
  const isFirst = plot === 'sessions';
  return {
    drawClear: [(u) => shadePhases(u, drawn)],
    draw: [
      (u) => {
        if (isFirst) namePhases(u, drawn);
        markRestarts(u, drawn, isFirst);
        if (room > RIGHT_LEAST) nameLines(u, plot, drawn);
      },
    ],
    setCursor: [
      (u) => {
        const { left } = u.cursor;
        onCursor(left === undefined || left < 0 ? null : u.posToVal(left, 'x'));
      },
    ],
  };
}
