/** An alert as it is written here, and as it stands in the rule file. */
import type { AlertingRule, Severity } from './rule.ts';

export interface Alert {
  readonly name: `Mcp${string}`;
  /** critical: sessions leak or clients are turned away, or nobody can tell; warning: it will come to that. */
  readonly severity: Severity;
  readonly expr: string;
  readonly for: string;
  /** Both may hold Prometheus' templates, as in `{{ $labels.target }}`. */
  readonly summary: string;
  readonly description: string;
}

export const alertingRule = (alert: Alert, runbooks: string): AlertingRule => ({
  alert: alert.name,
  expr: alert.expr,
  for: alert.for,
  labels: { severity: alert.severity },
  annotations: {
    summary: alert.summary,
    description: alert.description,
    runbook_url: `${runbooks}#${alert.name.toLowerCase()}`,
  },
});
