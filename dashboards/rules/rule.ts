/** The shape of a rule file, as Prometheus reads it. */
import type { Series } from '../promql.ts';

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export type Severity = 'critical' | 'warning' | 'info';

export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: Severity };
  readonly annotations: {
    readonly summary: string;
    readonly description: string;
    readonly runbook_url: string;
  };
}

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly (RecordingRule | AlertingRule)[];
}

export const record = (
  series: Series,
  expr: string,
  labels?: Readonly<Record<string, string>>,
): RecordingRule => ({ record: series.name, expr, ...(labels === undefined ? {} : { labels }) });
