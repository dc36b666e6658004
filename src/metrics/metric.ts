/** What a metric is: name, type, unit, help and labels, written once. */

export type MetricType = 'gauge' | 'counter' | 'histogram';

export interface Metric<Label extends string = string> {
  readonly name: string;
  readonly type: MetricType;
  /** Unit of the value, for axes; the name ends with it where Prometheus' conventions want that. */
  readonly unit: string;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds of a histogram's buckets, without +Inf. */
  readonly buckets?: readonly number[];
}

type Definition<Label extends string> = Pick<Metric<Label>, 'unit' | 'help' | 'labels'>;

export const gauge = <Label extends string>(name: string, definition: Definition<Label>): Metric<Label> => ({
  name,
  type: 'gauge',
  ...definition,
});

/** A counter's name ends with `_total`. */
export const counter = <Label extends string>(
  name: `${string}_total`,
  definition: Definition<Label>,
): Metric<Label> => ({ name, type: 'counter', ...definition });

export const histogram = <Label extends string>(
  name: string,
  definition: Definition<Label> & { readonly buckets: readonly number[] },
): Metric<Label> => ({ name, type: 'histogram', ...definition });
