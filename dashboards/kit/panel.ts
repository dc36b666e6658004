/** The kinds of panels, each with what holds for all of its kind. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { absentMapping, NO_DATA, unjudged } from './absent.ts';
import { DATASOURCE, targets, type Query } from './query.ts';

export type Panel = Builder<dashboard.Panel>;

/** What every panel has. */
export interface Said {
  readonly title: string;
  /** What is shown, what is right, and where to go when it is not. */
  readonly says: string;
  readonly unit: string;
  readonly width: number;
  readonly height?: number;
}

const HEIGHT = 8;
const BY_THRESHOLD = dashboard.FieldColorModeId.Thresholds;
/** By name, so that a build has one colour whatever else is shown. */
const PALETTE = dashboard.FieldColorModeId.PaletteClassicByName;

type AnyPanel = Builder<dashboard.Panel> &
  Record<'title' | 'description' | 'unit' | 'noValue', (text: string) => unknown> & {
    datasource(ref: common.DataSourceRef): unknown;
    span(width: number): unknown;
    height(height: number): unknown;
    mappings(mappings: dashboard.ValueMapping[]): unknown;
    thresholds(thresholds: Builder<dashboard.ThresholdsConfig>): unknown;
    colorScheme(color: Builder<dashboard.FieldColor>): unknown;
  };

function dress<P extends AnyPanel>(
  panel: P,
  said: Said,
  color: dashboard.FieldColorModeId,
  height = HEIGHT,
): P {
  panel.title(said.title);
  panel.description(said.says);
  panel.unit(said.unit);
  panel.datasource(DATASOURCE);
  panel.span(said.width);
  panel.height(said.height ?? height);
  panel.noValue(NO_DATA);
  panel.mappings([absentMapping]);
  panel.thresholds(unjudged());
  panel.colorScheme(new dashboard.FieldColorBuilder().mode(color));
  return panel;
}

const legend = (calcs: string[]): common.VizLegendOptionsBuilder =>
  new common.VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(common.LegendDisplayMode.Table)
    .placement(common.LegendPlacement.Bottom)
    .calcs(calcs);

const tooltip = (): common.VizTooltipOptionsBuilder =>
  new common.VizTooltipOptionsBuilder()
    .mode(common.TooltipDisplayMode.Multi)
    .sort(common.SortOrder.Descending);

/** Lines over time. A gap stays a gap: nothing is drawn where nothing was measured. */
export const lines = (said: Said, queries: readonly Query[]): timeseries.PanelBuilder =>
  dress(new timeseries.PanelBuilder(), said, PALETTE)
    .targets(targets(queries, 'range'))
    .legend(legend(['lastNotNull', 'max']))
    .tooltip(tooltip())
    .lineWidth(1)
    .fillOpacity(0)
    .showPoints(common.VisibilityMode.Auto)
    .spanNulls(false);

/** Numbers of this moment, one for each series. */
export const numbers = (said: Said, queries: readonly Query[]): stat.PanelBuilder =>
  dress(new stat.PanelBuilder(), said, BY_THRESHOLD, 4)
    .targets(targets(queries, 'now'))
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .graphMode(common.BigValueGraphMode.None)
    .colorMode(common.BigValueColorMode.Value)
    .textMode(common.BigValueTextMode.Auto);

/** What state each series was in, over time. Where nothing was measured, nothing is drawn. */
export const states = (said: Said, queries: readonly Query[]): statetimeline.PanelBuilder =>
  dress(new statetimeline.PanelBuilder(), said, BY_THRESHOLD)
    .targets(targets(queries, 'range'))
    .showValue(common.VisibilityMode.Auto)
    .mergeValues(true)
    .spanNulls(false)
    .legend(
      new common.VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(common.LegendDisplayMode.List)
        .placement(common.LegendPlacement.Bottom)
        .calcs([]),
    );

/** A table of this moment: a row for each series, its labels as columns. */
export const rows = (said: Said, query: Query): table.PanelBuilder =>
  dress(new table.PanelBuilder(), said, BY_THRESHOLD)
    .targets(targets([query], 'now', PromQueryFormat.Table))
    .withTransformation({
      id: 'organize',
      options: { excludeByName: { Time: true }, renameByName: { Value: query.legend } },
    });
