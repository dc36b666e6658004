/** Reads dashboards as Grafana would: panels, queries, and variables put into them. */
import { dashboardsOf } from '../../dashboards/index.ts';
import type { Classic } from '../../dashboards/kit/frame.ts';
import { panelsOf } from '../../dashboards/kit/import.ts';
import type { RulesOptions } from '../../dashboards/rules/options.ts';

export interface PanelQuery {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly instant?: boolean;
  readonly range?: boolean;
  readonly datasource?: { readonly type?: string; readonly uid?: string };
}

export interface Asked {
  readonly dashboard: string;
  readonly panel: string;
  readonly refId: string;
  readonly expr: string;
}

type Panel = ReturnType<typeof panelsOf>[number];

export const queriesOf = (panel: Panel): PanelQuery[] => (panel.targets ?? []) as unknown as PanelQuery[];

/** Every query of every panel and annotation. */
export function everyQuery(options: RulesOptions): Asked[] {
  return Object.entries(dashboardsOf(options)).flatMap(([dashboard, built]) => [
    ...panelsOf(built).flatMap((panel) =>
      queriesOf(panel).map(({ refId, expr }) => ({ dashboard, panel: panel.title ?? '', refId, expr })),
    ),
    ...annotationsOf(built).map(({ name, expr }) => ({ dashboard, panel: `(${name})`, refId: 'Anno', expr })),
  ]);
}

export const annotationsOf = (built: Classic): { name: string; expr: string }[] =>
  (built.annotations.list ?? []).map(({ name, target }) => ({
    name,
    expr: (target as unknown as PanelQuery).expr,
  }));

const VARIABLE = /\$(?:\{(\w+)(?::\w+)?\}|(\w+))/g;

/** Names of the variables that a text refers to. */
export const variablesIn = (text: string): string[] =>
  [...text.matchAll(VARIABLE)].map(([, braced, bare]) => braced ?? bare ?? '');

/** @throws where a variable has no value */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(VARIABLE, (_, braced: string | undefined, bare: string | undefined) => {
    const value = values[braced ?? bare ?? ''];
    if (value === undefined) throw new Error(`no value for $${braced ?? bare ?? ''}`);
    return value;
  });
