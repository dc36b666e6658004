/** What a reader chooses from, and what is drawn over every panel. */
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { DATASOURCE } from './query.ts';

export const datasource = (): Builder<dashboard.VariableModel> =>
  new dashboard.DatasourceVariableBuilder('datasource')
    .label('Data source')
    .description('The Prometheus that scrapes the exporter and evaluates the rules.')
    .type('prometheus')
    .multi(false)
    .includeAll(false);

export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly says: string;
  /** The series whose label values are offered: a selector, which may refer to variables before this one. */
  readonly of: string;
  /** The label; the variable's own name where it is left out. */
  readonly values?: string;
}

const query = ({ name, label, says, of, values = name }: Choice): dashboard.QueryVariableBuilder =>
  new dashboard.QueryVariableBuilder(name)
    .label(label)
    .description(says)
    .datasource(DATASOURCE)
    .query({ query: `label_values(${of}, ${values})`, refId: name })
    .definition(`label_values(${of}, ${values})`)
    .refresh(dashboard.VariableRefresh.OnTimeRangeChanged)
    .sort(dashboard.VariableSort.NaturalAsc);

/** Any number of values, all at first: with `.*`, also the series that lack the label; a scrape always has a job. */
export const several = (choice: Choice): dashboard.QueryVariableBuilder =>
  query(choice)
    .multi(true)
    .includeAll(true)
    .allValue(choice.name === 'job' || choice.name === 'instance' ? '.+' : '.*')
    .current({ selected: true, text: ['All'], value: ['$__all'] });

/** One value; the first that there is. */
export const one = (choice: Choice): dashboard.QueryVariableBuilder =>
  query(choice).multi(false).includeAll(false);

/** Marks at the instants that the value itself names, in seconds since the epoch: no scrape gap hides one. */
export const instants = (name: string, expr: string, text: string): Builder<dashboard.AnnotationQuery> =>
  new dashboard.AnnotationQueryBuilder()
    .name(name)
    .datasource(DATASOURCE)
    .enable(true)
    .hide(false)
    .iconColor('purple')
    .target(new DataqueryBuilder().refId('Anno').datasource(DATASOURCE).expr(`${expr} * 1000`).range())
    .titleFormat(name)
    .textFormat(text)
    .tagKeys('target,build,worker')
    .useValueForTime(true);
