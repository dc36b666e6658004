/** What is drawn around the lines: phases behind them, restarts across them, names at their ends. */
import type uPlot from 'uplot';
import { phaseSpans } from './phases.ts';
import type { Drawn } from './scene.ts';
import { columnsOf, type PlotName } from './series.ts';
import { color, faint, FONT } from './theme.ts';

const ROW = 13;

/** Calls with CSS pixels: uPlot's canvas counts in the device's. */
function scaled(u: uPlot, draw: (context: CanvasRenderingContext2D, box: Box) => void): void {
  const ratio = devicePixelRatio || 1;
  const { ctx, bbox } = u;
  ctx.save();
  ctx.scale(ratio, ratio);
  ctx.font = FONT;
  // uPlot leaves its own behind.
  ctx.textAlign = 'left';
  ctx.setLineDash([]);
  draw(ctx, {
    left: bbox.left / ratio,
    top: bbox.top / ratio,
    right: (bbox.left + bbox.width) / ratio,
    bottom: (bbox.top + bbox.height) / ratio,
  });
  ctx.restore();
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Every arm has phases of its own: where all agree, the shade is full. */
export function shadePhases(u: uPlot, drawn: readonly Drawn[]): void {
  scaled(u, (context, box) => {
    for (const { arm } of drawn)
      for (const { phase, from, to } of arm.phases) {
        const x = box.left + u.valToPos(from, 'x');
        const width = box.left + u.valToPos(to, 'x') - x;
        context.fillStyle = faint(color(`phase-${phase}`) || color('grid'), 0.55 / drawn.length);
        context.fillRect(x, box.top, width, box.bottom - box.top);
      }
  });
}

/** How many rows above the chart the phases' names take. */
export const PHASE_ROWS = 2;

/** Names above the chart, each from where its phase begins; one that finds no room is left to the read-out. */
export function namePhases(u: uPlot, drawn: readonly Drawn[]): void {
  scaled(u, (context, box) => {
    const ends: number[] = Array.from({ length: PHASE_ROWS }, () => -Infinity);
    context.textBaseline = 'alphabetic';
    for (const { phase, from } of phaseSpans(drawn.map(({ arm }) => arm))) {
      const x = box.left + u.valToPos(from, 'x');
      const width = context.measureText(phase).width;
      const row = ends.findIndex((end) => x >= end);
      if (row < 0) continue;
      ends[row] = x + width + 10;
      const y = box.top - 5 - row * ROW;
      context.strokeStyle = color('muted');
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x + 0.5, y - 9);
      context.lineTo(x + 0.5, row === 0 ? box.top : y + 2);
      context.stroke();
      context.fillStyle = color('muted');
      context.fillText(phase, x + 4, y);
    }
  });
}

/** Text that stands on lines. */
function haloed(context: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  context.setLineDash([]);
  context.strokeStyle = color('paper');
  context.lineWidth = 4;
  context.lineJoin = 'round';
  context.strokeText(text, x, y);
  context.fillText(text, x, y);
}

/** The process ended, or another one answered. */
export function markRestarts(u: uPlot, drawn: readonly Drawn[], named: boolean): void {
  scaled(u, (context, box) => {
    for (const { arm, label } of drawn)
      for (const seconds of arm.restarts) {
        const x = box.left + u.valToPos(seconds, 'x');
        context.strokeStyle = context.fillStyle = color('bad');
        context.lineWidth = 1.5;
        context.setLineDash([5, 3]);
        context.beginPath();
        context.moveTo(x, box.top);
        context.lineTo(x, box.bottom);
        context.stroke();
        context.beginPath();
        context.moveTo(x - 5, box.top);
        context.lineTo(x + 5, box.top);
        context.lineTo(x, box.top + 8);
        context.fill();
        if (!named) continue;
        context.textAlign = x > (box.left + box.right) / 2 ? 'right' : 'left';
        haloed(context, `${label}: server ended`, x + (context.textAlign === 'left' ? 8 : -8), box.top + 14);
      }
  });
}

/** Narrower than this, a name stands at its line's end without the drift: the sentence above has it. */
const NARROW = 560;

function endLabel(plot: PlotName, { arm, label }: Drawn, width: number): string {
  if (plot !== 'sessions' || !arm.drift || width < NARROW) return label;
  return `${label}: ${Math.abs(arm.drift).toLocaleString('en-US')} ${arm.drift > 0 ? 'kept' : 'lost'}`;
}

const LEADER = 10;
const SWATCH = 20;

/** Room to the right of all three charts, so that they stay aligned. */
export function labelRoom(drawn: readonly Drawn[], width: number): number {
  const context = document.createElement('canvas').getContext('2d');
  if (!context) return 0;
  context.font = FONT;
  const widths = drawn.map((one) => context.measureText(endLabel('sessions', one, width)).width);
  return Math.ceil(Math.max(0, ...widths)) + LEADER + SWATCH + 8;
}

/** Each line's name at its end, apart from the others, with a line to where it belongs. */
export function nameLines(u: uPlot, plot: PlotName, drawn: readonly Drawn[]): void {
  scaled(u, (context, box) => {
    const ends = drawn.flatMap((one) => {
      const column = columnsOf(plot, one.arm)[0] ?? [];
      const place = column.findLastIndex((value) => value !== null);
      const value = column[place];
      if (value === undefined || value === null) return [];
      const x = box.left + u.valToPos(one.arm.seconds[place] ?? 0, 'x');
      const y = box.top + u.valToPos(value, 'y');
      return [{ one, x, y }];
    });
    const heights = spread(
      ends.map(({ y }) => y),
      ROW,
      box.top + 5,
      box.bottom - 2,
    );
    context.textBaseline = 'middle';
    ends.forEach(({ one, x, y }, i) => {
      const to = heights[i] ?? y;
      context.strokeStyle = faint(one.style.color, 0.6);
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(box.right, y);
      context.lineTo(box.right + LEADER, to);
      context.stroke();
      context.strokeStyle = one.style.color;
      context.lineWidth = 2.25;
      context.setLineDash([...one.style.dash]);
      context.beginPath();
      context.moveTo(box.right + LEADER, to);
      context.lineTo(box.right + LEADER + SWATCH, to);
      context.stroke();
      context.setLineDash([]);
      context.fillStyle = color('ink');
      context.fillText(endLabel(plot, one, u.width), box.right + LEADER + SWATCH + 4, to);
    });
  });
}

/** Moves places apart to a distance, within bounds, as little as it can. */
export function spread(wanted: readonly number[], distance: number, least: number, most: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const placed = [...wanted];
  let floor = least;
  for (const i of order) {
    placed[i] = Math.max(wanted[i] ?? 0, floor);
    floor = placed[i] + distance;
  }
  let ceiling = most;
  for (const i of order.reverse()) {
    placed[i] = Math.min(placed[i] ?? 0, ceiling);
    ceiling = placed[i] - distance;
  }
  return placed;
}
