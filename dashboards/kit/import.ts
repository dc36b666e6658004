/** The same dashboard in the form that Grafana's import page reads: it asks for the data source by `__inputs`. */
import type { Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Classic } from './frame.ts';

const INPUT = 'DS_PROMETHEUS';
const ASKED = '${' + INPUT + '}';

/** The oldest Grafana whose panels and variables are used. */
const GRAFANA = '10.0.0';

const PANELS: Record<string, string> = {
  stat: 'Stat',
  statetimeline: 'State timeline',
  'state-timeline': 'State timeline',
  table: 'Table',
  timeseries: 'Time series',
};

export function importable(dashboard: Classic): object {
  const kinds = [...new Set(panelsOf(dashboard).map(({ type }) => type))].sort();
  return {
    __inputs: [
      {
        name: INPUT,
        label: 'Prometheus',
        description: 'Scrapes the exporter and evaluates the rules',
        type: 'datasource',
        pluginId: 'prometheus',
        pluginName: 'Prometheus',
      },
    ],
    __elements: {},
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: GRAFANA },
      { type: 'datasource', id: 'prometheus', name: 'Prometheus', version: '1.0.0' },
      ...kinds.map((id) => ({ type: 'panel', id, name: PANELS[id] ?? id, version: '' })),
    ],
    ...dashboard,
    templating: {
      list: (dashboard.templating.list ?? []).map((variable) =>
        variable.name === 'datasource' ? { ...variable, current: { text: ASKED, value: ASKED } } : variable,
      ),
    },
  };
}

/** All panels, those inside closed rows too; without the rows. */
export const panelsOf = ({ panels = [] }: Classic): Panel[] =>
  panels.flatMap((panel) => (isRow(panel) ? panel.panels : [panel]));

export const isRow = (panel: Panel | RowPanel): panel is RowPanel => panel.type === 'row';
