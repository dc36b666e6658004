/** The samples of one scrape, in a registry of their own: what is not read again is not served again. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { CATALOGUE } from '../src/metrics/catalogue.ts';
import type { Metric } from '../src/metrics/metric.ts';
import { renderRegistry, type Exposition } from './exposition.ts';

type Labels = Readonly<Record<string, string>>;

/** A histogram that was counted elsewhere: cumulative buckets without +Inf. */
export interface Distribution {
  readonly buckets: readonly { readonly le: number; readonly count: number }[];
  readonly sum: number;
  readonly count: number;
}

interface Sample {
  readonly labels: Labels;
  readonly value: number | Distribution;
}

/** Labels by the names that the catalogue gives a metric; what the operator adds comes through `extra`. */
export type LabelsOf<M> = M extends Metric<infer L> ? Readonly<Record<L, string>> : never;

export class Sheet {
  readonly #samples = new Map<string, Sample[]>();

  /** One sample; null: there is none. @param extra the operator's own labels */
  add<L extends string>(
    metric: Metric<L>,
    labels: Readonly<Record<NoInfer<L>, string>>,
    value: number | Distribution | null,
    extra: Labels,
  ): void {
    if (value === null) return;
    const samples = this.#samples.get(metric.name);
    const sample = { labels: { ...labels, ...extra }, value };
    if (samples === undefined) this.#samples.set(metric.name, [sample]);
    else samples.push(sample);
  }

  /** In the catalogue's order. */
  render(accept: string): Promise<Exposition> {
    const registry = new Registry();
    for (const metric of CATALOGUE) {
      const samples = this.#samples.get(metric.name);
      if (samples !== undefined) fill(registry, metric, samples);
    }
    return renderRegistry(registry, accept);
  }
}

function fill(registry: Registry, metric: Metric, samples: readonly Sample[]): void {
  const { name, help } = metric;
  const labelNames = [
    ...new Set([...metric.labels, ...samples.flatMap(({ labels }) => Object.keys(labels))]),
  ];
  const config = { name, help, labelNames, registers: [registry] };
  if (metric.type === 'histogram') {
    new CountedHistogram(config, samples);
  } else if (metric.type === 'counter') {
    const counter = new Counter(config);
    for (const { labels, value } of samples) counter.inc(labels, value as number);
  } else {
    const gauge = new Gauge(config);
    for (const { labels, value } of samples) gauge.set(labels, value as number);
  }
}

interface HistogramValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** prom-client's histogram observes; this one was observed already, in buckets of its own. */
class CountedHistogram extends Histogram {
  readonly #samples: readonly Sample[];
  readonly #about: { name: string; help: string };

  constructor(config: ConstructorParameters<typeof Histogram>[0], samples: readonly Sample[]) {
    super(config);
    this.#about = { name: config.name, help: config.help };
    this.#samples = samples;
  }

  /** What the registry asks for when it renders. */
  getForPromString(): ReturnType<Histogram['get']> {
    return this.get();
  }

  override get(): ReturnType<Histogram['get']> {
    const values = this.#samples.flatMap(({ labels, value }) => this.#values(labels, value as Distribution));
    return Promise.resolve({ ...this.#about, type: 'histogram', aggregator: 'sum', values } as never);
  }

  #values(labels: Labels, { buckets, sum, count }: Distribution): HistogramValue[] {
    const { name } = this.#about;
    return [
      ...buckets.map((bucket) => ({
        metricName: `${name}_bucket`,
        labels: { ...labels, le: bucket.le },
        value: bucket.count,
      })),
      { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
