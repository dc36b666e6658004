/** Stand-in for the module `k6/metrics`: keeps every series, so that sub-metrics can be asked for. */
export interface Sample {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'rate';
  readonly value: number;
  readonly tags: Readonly<Record<string, string>>;
}

interface Series {
  readonly name: string;
  readonly type: Sample['type'];
  readonly tags: Sample['tags'];
  values: Record<string, number>;
}

const series = new Map<string, Series>();

export function addSample({ name, type, value, tags }: Sample): void {
  const key = `${name}${JSON.stringify(Object.entries(tags).sort())}`;
  const known = series.get(key) ?? { name, type, tags, values: {} };
  series.set(key, known);
  const { values } = known;
  if (type === 'counter') values['count'] = (values['count'] ?? 0) + value;
  else if (type === 'rate') {
    values['passes'] = (values['passes'] ?? 0) + value;
    values['fails'] = (values['fails'] ?? 0) + 1 - value;
  } else {
    values['max'] = Math.max(values['max'] ?? -Infinity, value);
    values['min'] = Math.min(values['min'] ?? Infinity, value);
    values['value'] = value;
  }
}

/** Values of a metric, or of a sub-metric such as `checks{check:delete.accepted}`; null without a sample. */
export function valuesOf(metric: string): Record<string, number> | null {
  const [, name = '', filter = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(metric) ?? [];
  const wanted = filter === '' ? [] : filter.split(',').map((pair) => pair.split(/:(.*)/s));
  const found = [...series.values()].filter(
    (one) => one.name === name && wanted.every(([key = '', value]) => one.tags[key] === value),
  );
  if (found.length === 0) return null;
  const sum = (key: string): number => found.reduce((total, one) => total + (one.values[key] ?? 0), 0);
  const type = found[0]?.type;
  if (type === 'gauge') {
    const max = Math.max(...found.map((one) => one.values['max'] ?? -Infinity));
    return { value: found.at(-1)?.values['value'] ?? 0, max };
  }
  if (type === 'counter') return { count: sum('count') };
  const [passes, fails] = [sum('passes'), sum('fails')];
  return { passes, fails, rate: passes + fails === 0 ? 0 : passes / (passes + fails) };
}

export const metricNames = (): string[] => [...new Set([...series.values()].map(({ name }) => name))];

class Metric {
  readonly #name: string;
  readonly #type: Sample['type'];

  constructor(name: string, type: Sample['type']) {
    this.#name = name;
    this.#type = type;
  }

  add(value: number, tags: Sample['tags'] = {}): void {
    addSample({ name: this.#name, type: this.#type, value, tags });
  }
}

export class Counter extends Metric {
  constructor(name: string) {
    super(name, 'counter');
  }
}

export class Gauge extends Metric {
  constructor(name: string) {
    super(name, 'gauge');
  }
}
