/**
 * Builds PromQL around the catalogue's constants, so that no metric's name stands as a loose string: a selector
 * knows which labels its metric has, and which side of the measurement it comes from.
 */
import type { Metric } from '../src/metrics/metric.ts';

/** Which series to look at, and what the operator wants of them. */
export interface QueryOptions {
  /** Label matchers of the exporter's series, as in `job="mcp"`; empty for all. */
  readonly selector: string;
  /** Label matchers of the load side's series; empty for all. */
  readonly loadSelector: string;
}

/** Anything with a name and labels: a metric of the catalogue, a recording rule, Prometheus' own `up`. */
export interface Series<Label extends string = string> {
  readonly name: string;
  readonly labels: readonly Label[];
  readonly unit?: string;
}

/** Labels that Prometheus itself attaches to what it scrapes. */
type ScrapeLabel = 'job' | 'instance';

/** A label's value: a string for equality, or one of `not`, `matching`, `notMatching`. */
export type Wanted = string | { readonly operator: '!=' | '=~' | '!~'; readonly value: string };
export type Matchers<Label extends string> = Partial<Record<Label | ScrapeLabel, Wanted>>;

export const not = (value: string): Wanted => ({ operator: '!=', value });
/** A regular expression, anchored by Prometheus at both ends; also a dashboard's variable, `matching('$build')`. */
export const matching = (value: string): Wanted => ({ operator: '=~', value });
export const notMatching = (value: string): Wanted => ({ operator: '!~', value });

/** 1 where the last scrape of a target succeeded, 0 where it failed: written by Prometheus itself. */
export const up: Series<never> = { name: 'up', labels: [] };

/**
 * An instant selector: `sel(sessionsRegistered, options, { build: matching('$build') })`. The options' matchers are
 * applied by the series' side: the exporter's, the load's, or none for recording rules and `up`.
 */
export const sel = <Label extends string>(
  series: Series<Label>,
  options: QueryOptions,
  matchers: Matchers<Label> = {},
): string => {
  const own = Object.entries<Wanted | undefined>(matchers).flatMap(([label, wanted]) =>
    wanted === undefined ? [] : [matcher(label, wanted)],
  );
  const all = [...sideSelector(series, options), ...own].join(',');
  return all === '' ? series.name : `${series.name}{${all}}`;
};

/** A range selector: `over(sessionRegistrations, options, '5m')`. */
export const over = <Label extends string>(
  series: Series<Label>,
  options: QueryOptions,
  window: string,
  matchers: Matchers<Label> = {},
): string => `${sel(series, options, matchers)}[${window}]`;

/** The counters inside a histogram of the catalogue. */
export const bucketsOf = <Label extends string>(metric: Metric<Label>): Series<Label | 'le'> => ({
  ...part(metric, 'bucket'),
  labels: [...metric.labels, 'le'],
});
export const sumOf = <Label extends string>(metric: Metric<Label>): Series<Label> => part(metric, 'sum');
export const countOf = <Label extends string>(metric: Metric<Label>): Series<Label> => part(metric, 'count');

/** A function of the instant or range vectors: `call('rate', over(…))`. */
export const call = (name: string, ...parameters: readonly (string | number)[]): string =>
  `${name}(${parameters.join(', ')})`;

export type Aggregation = 'sum' | 'min' | 'max' | 'avg' | 'count';

/** `by('sum', ['target', 'build'], expression)`. */
export const by = (aggregation: Aggregation, labels: readonly string[], expression: string): string =>
  `${aggregation} by (${labels.join(', ')}) (${expression})`;

/** A duration as Prometheus writes it, in whole seconds: 1800 → `30m`, 90 → `90s`. */
export const duration = (seconds: number): string => {
  const whole = Math.max(1, Math.round(seconds));
  if (whole % 3600 === 0) return `${String(whole / 3600)}h`;
  return whole % 60 === 0 ? `${String(whole / 60)}m` : `${String(whole)}s`;
};

const matcher = (label: string, wanted: Wanted): string => {
  const { operator, value } = typeof wanted === 'string' ? { operator: '=', value: wanted } : wanted;
  return `${label}${operator}${JSON.stringify(value)}`;
};

/** Only the load side knows of runs. A recording rule's name holds a colon; what it sums has lost other labels. */
const sideSelector = (series: Series, options: QueryOptions): readonly string[] => {
  if (series.name === up.name || series.name.includes(':')) return [];
  const selector = series.labels.includes('run') ? withoutJob(options.loadSelector) : options.selector;
  return selector.trim() === '' ? [] : [selector.trim()];
};

/**
 * What a rule made of k6's series has neither `job` nor `instance`. So a matcher on one of them also takes series that
 * lack it, which `=` and `=~` on their own would hide.
 */
const withoutJob = (selector: string): string =>
  selector.replace(
    /(?<=^|,)\s*(job|instance)\s*(=~|=(?!~))\s*("(?:[^"\\]|\\.)*")(?=\s*(?:,|$))/g,
    (_, label: string, operator: string, text: string) => {
      const value = JSON.parse(text) as string;
      const pattern = operator === '=' ? value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : `(?:${value})`;
      return `${label}=~${JSON.stringify(`${pattern}|`)}`;
    },
  );

const part = <Label extends string>(
  metric: Metric<Label>,
  suffix: 'bucket' | 'sum' | 'count',
): Series<Label> => ({ name: `${metric.name}_${suffix}`, labels: metric.labels });
