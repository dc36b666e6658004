/**
 * The dashboards, in the three forms in which Grafana takes them: plain JSON without an id (file provisioning), JSON
 * that asks for its data source (the import page), and ConfigMaps (the sidecar of Grafana's Helm chart).
 */
import type { Classic } from './kit/frame.ts';
import { stringify } from 'yaml';
import { buildComparison } from './build-comparison.ts';
import { importable } from './kit/import.ts';
import { loadRun } from './load-run.ts';
import type { RulesOptions } from './rules/options.ts';
import { sessionRetention } from './session-retention.ts';

/** A file to write: its path below the dashboards' folder. */
export interface DashboardFile {
  readonly path: string;
  readonly text: string;
}

/** Name of the file without its ending → dashboard. */
export const dashboardsOf = (options: RulesOptions): Readonly<Record<string, Classic>> => ({
  'session-retention': sessionRetention(options),
  'build-comparison': buildComparison(options),
  'load-run': loadRun(options),
});

export function dashboardFiles(options: RulesOptions): DashboardFile[] {
  const dashboards = Object.entries(dashboardsOf(options));
  const json = (value: object): string => JSON.stringify(value, null, 2) + '\n';
  return [
    ...dashboards.map(([name, dashboard]) => ({ path: `${name}.json`, text: json(dashboard) })),
    ...dashboards.map(([name, dashboard]) => ({
      path: `import/${name}.json`,
      text: json(importable(dashboard)),
    })),
    {
      path: 'configmaps.yaml',
      text: dashboards.map(([name, dashboard]) => stringify(configMap(name, dashboard), STYLE)).join('---\n'),
    },
  ];
}

const STYLE = { lineWidth: 0 } as const;

/** One for each dashboard, and its JSON in one line: kubectl apply keeps a copy, which may have 256 KiB. */
const configMap = (name: string, dashboard: Classic): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: `mcp-retention-dashboard-${name}`,
    labels: { grafana_dashboard: '1', 'app.kubernetes.io/part-of': 'mcp-retention' },
    annotations: { grafana_folder: 'MCP' },
  },
  data: { [`mcp-${name}.json`]: JSON.stringify(dashboard) },
});
