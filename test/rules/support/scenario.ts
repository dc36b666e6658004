/** A scenario for one alert: series, and whether the alert fires. */
import { alertsOf, DEFAULT_RULES_OPTIONS } from '../../../dashboards/rules/index.ts';
import type { Input } from './world.ts';

export interface Firing {
  /** Without `severity`. */
  readonly labels: Readonly<Record<string, string>>;
  /** `$value` as the annotations print it. */
  readonly value?: string;
}

export interface Scenario {
  readonly alert: string;
  readonly title: string;
  readonly series: readonly Input[];
  /** Minutes from the start at which the alert is looked at. */
  readonly at: number;
  /** Every alert of that name that fires then; none: the alert is silent from the start until then. */
  readonly fires: readonly Firing[];
  /** Expressions and their samples at the same time; without samples they must yield nothing. */
  readonly expect?: readonly Expectation[];
}

export interface Expectation {
  readonly expr: string;
  readonly samples: readonly { readonly labels: string; readonly value: number }[];
  /** Minutes; the scenario's own time where absent. */
  readonly at?: number;
}

export interface ScenarioTest {
  readonly interval: '15s';
  readonly name: string;
  readonly input_series: readonly Input[];
  readonly alert_rule_test?: readonly object[];
  readonly promql_expr_test: readonly object[];
}

/** The scenario as promtool wants it. */
export function testOf(scenario: Scenario): ScenarioTest {
  const { alert, title, series, at, fires } = scenario;
  const time = `${String(at)}m`;
  const silent = {
    expr: `count_over_time(ALERTS{alertname="${alert}",alertstate="firing"}[${time}])`,
    samples: [],
  };
  const expectations = [...(scenario.expect ?? []), ...(fires.length === 0 ? [silent] : [])];
  return {
    interval: '15s',
    name: title,
    input_series: series,
    alert_rule_test: [
      { eval_time: time, alertname: alert, exp_alerts: fires.map((one) => expected(alert, one)) },
    ],
    promql_expr_test: expectations.map((expectation) => expressionTest(expectation, at)),
  };
}

export const expressionTest = ({ expr, samples, at: own }: Expectation, at: number): object => ({
  expr,
  eval_time: `${String(60 * (own ?? at))}s`,
  exp_samples: samples,
});

/** Labels and annotations as they reach the operator: the templates are filled in here, independently of Prometheus. */
const expected = (name: string, { labels, value }: Firing): object => {
  const alert = alertsOf(DEFAULT_RULES_OPTIONS).find((one) => one.name === name);
  if (alert === undefined) throw new Error(`no alert is called ${name}`);
  const fill = (template: string): string =>
    template
      .replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '')
      .replace(/\{\{ \$value[^}]*\}\}/g, () => {
        if (value === undefined) throw new Error(`${name}: the scenario must say the value`);
        return value;
      });
  return {
    exp_labels: { severity: alert.severity, ...labels },
    exp_annotations: {
      summary: fill(alert.summary),
      description: fill(alert.description),
      runbook_url: `docs/runbooks.md#${name.toLowerCase()}`,
    },
  };
};
