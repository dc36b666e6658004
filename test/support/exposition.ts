/** Reads what a /metrics page says, for tests that judge from outside. */
import assert from 'node:assert/strict';

export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LABEL = /([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

/** Every sample; fails on a line that is none. */
export function seriesIn(page: string): Series[] {
  return page
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      assert.ok(name !== undefined && value !== undefined, `no sample: ${line}`);
      const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text] as const);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });
}

/** The values of a metric by worker. */
export const byWorker = (page: string, name: string): Map<string, number> =>
  new Map(
    seriesIn(page)
      .filter((series) => series.name === name)
      .map(({ labels, value }) => [labels.worker ?? '', value]),
  );

/** Whether each collector read its target, by `target/collector`. */
export const successes = (page: string): Record<string, number> =>
  Object.fromEntries(
    seriesIn(page)
      .filter(({ name }) => name === 'mcp_exporter_collector_success')
      .map(({ labels, value }) => [`${labels.target}/${labels.collector}`, value]),
  );
