/** Ways from one dashboard to the others and to the runbooks. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';

/** Every dashboard of this project bears it, and the links between them go by it. */
export const TAG = 'mcp-retention';

/** @param runbooks an address; a path is left out, since it would lead nowhere from within Grafana */
export const linksOf = (runbooks: string): Builder<dashboard.DashboardLink>[] => [
  link('MCP retention', 'The other dashboards, with the same time and choices')
    .type(dashboard.DashboardLinkType.Dashboards)
    .icon('external link')
    .tags([TAG])
    .includeVars(true)
    .keepTime(true)
    .targetBlank(false),
  ...(/^https?:/.test(runbooks)
    ? [
        link('Runbooks', 'What each alert means and what to do')
          .type(dashboard.DashboardLinkType.Link)
          .icon('doc')
          .url(runbooks)
          .includeVars(false)
          .keepTime(false)
          .targetBlank(true),
      ]
    : []),
];

const link = (title: string, tooltip: string): dashboard.DashboardLinkBuilder =>
  new dashboard.DashboardLinkBuilder(title).tooltip(tooltip).asDropdown(false);
