/** A dashboard's frame: sections of panels on Grafana's grid, ids, time, refresh. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import type { Panel } from './panel.ts';

const GRID_WIDTH = 24;
/** Ids are 100 × section + place, so that a new panel leaves those of other sections, and links to them, alone. */
const IDS_A_SECTION = 100;

export interface Section {
  readonly title: string;
  readonly collapsed?: boolean;
  readonly panels: readonly Panel[];
}

export interface Frame {
  readonly uid: string;
  readonly title: string;
  readonly says: string;
  readonly tags: readonly string[];
  readonly from: string;
  readonly refresh: string;
  readonly variables: readonly Builder<dashboard.VariableModel>[];
  readonly annotations: readonly Builder<dashboard.AnnotationQuery>[];
  readonly links: readonly Builder<dashboard.DashboardLink>[];
  readonly sections: readonly Section[];
}

/**
 * A dashboard of the classic schema: the one that file provisioning, the import page and the sidecar take, in every
 * Grafana since 10.
 */
// eslint-disable-next-line @typescript-eslint/no-deprecated -- its successor cannot be imported by file everywhere
export type Classic = dashboard.Dashboard;

export function build(frame: Frame): Classic {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- as above
  const built = new dashboard.DashboardBuilder(frame.title)
    .uid(frame.uid)
    .description(frame.says)
    .tags([...frame.tags])
    .readonly()
    .timezone('utc')
    .time({ from: frame.from, to: 'now' })
    .refresh(frame.refresh)
    .tooltip(dashboard.DashboardCursorSync.Crosshair)
    .variables([...frame.variables])
    .annotations([...frame.annotations])
    .links([...frame.links])
    .build();
  return { ...built, panels: arrange(frame.sections) };
}

function arrange(sections: readonly Section[]): (dashboard.Panel | dashboard.RowPanel)[] {
  let y = 0;
  return sections.flatMap((section, index) => {
    const id = (index + 1) * IDS_A_SECTION;
    const placed = place(section.panels, id, y + 1);
    const row = new dashboard.RowBuilder(section.title)
      .id(id)
      .gridPos({ x: 0, y, w: GRID_WIDTH, h: 1 })
      .collapsed(section.collapsed === true)
      .build();
    y = section.collapsed === true ? y + 1 : placed.end;
    // Grafana keeps the panels of a closed row inside it, those of an open one beside it.
    return section.collapsed === true ? [{ ...row, panels: placed.panels }] : [row, ...placed.panels];
  });
}

/** Left to right; a panel that does not fit begins a new line, below the highest of the one before. */
function place(
  panels: readonly Panel[],
  rowId: number,
  top: number,
): { panels: dashboard.Panel[]; end: number } {
  let x = 0;
  let y = top;
  let lineHeight = 0;
  const built = panels.map((builder, index) => {
    const panel = builder.build();
    const { w, h } = panel.gridPos ?? dashboard.defaultGridPos();
    if (x + w > GRID_WIDTH) {
      y += lineHeight;
      x = 0;
      lineHeight = 0;
    }
    const seat = { ...panel, id: rowId + index + 1, gridPos: { x, y, w, h } };
    x += w;
    lineHeight = Math.max(lineHeight, h);
    return seat;
  });
  return { panels: built, end: y + lineHeight };
}
