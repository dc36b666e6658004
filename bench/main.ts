/**
 * Benchmarks of the tool itself.
 *
 *   npm run bench -- [--only NAME]… [--json FILE]
 *
 * sensitivity and self-compare take many minutes and run only by name; BENCH_RUNS makes them shorter.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { driver } from './driver.ts';
import { k6 } from './k6.ts';
import { probeCost } from './probe-cost.ts';
import { reporting } from './report.ts';
import { scrape } from './scrape.ts';
import { selfCompare } from './self-compare.ts';
import { sensitivity } from './sensitivity.ts';
import { snapshot } from './snapshot.ts';
import type { Benchmark, Outcome } from './support/benchmark.ts';
import { judging } from './verdict.ts';

const BENCHMARKS: readonly Benchmark[] = [
  driver,
  k6,
  probeCost,
  snapshot,
  scrape,
  judging,
  reporting,
  sensitivity,
  selfCompare,
];

function print({ name, title }: Benchmark, { head, rows, notes }: Outcome, seconds: number): void {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  for (const row of rows) table.push([...row]);
  console.log(`\n${title} (${name}, ${seconds.toFixed(0)} s)\n${table.toString()}\n${notes.join('\n')}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string', multiple: true }, json: { type: 'string' } },
  });
  const unknown =
    values.only?.filter((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`no benchmark ${unknown.join(', ')}: ${BENCHMARKS.map(({ name }) => name).join(', ')}`);
  const results: Record<string, unknown> = {};
  for (const benchmark of BENCHMARKS) {
    if (!(values.only?.includes(benchmark.name) ?? benchmark.onRequest !== true)) continue;
    const began = performance.now();
    const outcome = await benchmark.run();
    print(benchmark, outcome, (performance.now() - began) / 1000);
    results[benchmark.name] = outcome.figures;
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
}

await main();
