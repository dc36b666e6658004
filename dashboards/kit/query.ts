/** Queries of panels and variables: always of the data source that the reader has chosen. */
import type { DataSourceRef } from '@grafana/grafana-foundation-sdk/common';
import { DataqueryBuilder, type PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';

export const DATASOURCE: DataSourceRef = { type: 'prometheus', uid: '${datasource}' };

export interface Query {
  readonly expr: string;
  /** Legend in Grafana's form: `{{build}} registered`. */
  readonly legend: string;
}

/** `now` asks for one instant: the last value of a series that has ended is no value of today. */
export type Span = 'range' | 'now';

const REF_IDS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export function targets(queries: readonly Query[], span: Span, format?: PromQueryFormat): DataqueryBuilder[] {
  return queries.map(({ expr, legend }, index) => {
    const query = new DataqueryBuilder()
      .refId(REF_IDS.charAt(index))
      .datasource(DATASOURCE)
      .expr(expr)
      .legendFormat(legend);
    if (format !== undefined) query.format(format);
    return span === 'now' ? query.instant() : query.range();
  });
}
