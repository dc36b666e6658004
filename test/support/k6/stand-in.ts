/**
 * Runs a load script in Node over real sockets, with stand-ins for k6's modules: setup, the scenario's iterations,
 * teardown, thresholds, handleSummary. `stand-in.ts SCRIPT '{"TARGET":…}'`, with register.mjs.
 */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Aborted, counted, playing, turns } from './modules/execution.ts';
import { metricNames, valuesOf } from './modules/metrics.ts';

interface Scenario {
  readonly executor: string;
  readonly vus?: number;
  readonly iterations?: number;
  readonly rate?: number;
  readonly timeUnit?: string;
  readonly duration?: string;
  readonly preAllocatedVUs?: number;
}

interface Script {
  readonly options: {
    readonly scenarios: Readonly<Record<string, Scenario>>;
    readonly thresholds: Readonly<Record<string, readonly string[]>>;
  };
  readonly setup: () => Promise<unknown>;
  readonly default: (told: unknown) => Promise<void>;
  readonly teardown: (told: unknown) => Promise<void>;
  readonly handleSummary: (data: unknown) => Record<string, string>;
}

/** As k6 exits. */
const THRESHOLDS_CROSSED = 99;
const SCRIPT_FAILED = 107;
const ABORTED = 108;

const seconds = (text = '0s'): number => Number(text.replace(/s$/, ''));
const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function iterate(
  script: Script,
  told: unknown,
  vu: number,
  own: number,
  inTest: number,
): Promise<void> {
  const turn = { vu, iterationInScenario: own, iterationInTest: inTest };
  try {
    await turns.run(turn, () => script.default(structuredClone(told)));
  } catch (error) {
    console.error(error);
  }
  counted.iterationsCompleted++;
}

async function perVu(script: Script, told: unknown, { vus = 1, iterations = 1 }: Scenario): Promise<void> {
  const user = async (vu: number): Promise<void> => {
    for (let own = 0; own < iterations; own++) await iterate(script, told, vu, own, own);
  };
  await Promise.all(Array.from({ length: vus }, (_, i) => user(i + 1)));
}

/** Arrivals in their time; k6 would leave out those for which no virtual user is free. */
async function arrivals(script: Script, told: unknown, scenario: Scenario): Promise<void> {
  const perSecond = (scenario.rate ?? 1) / seconds(scenario.timeUnit);
  const began = performance.now();
  const playing: Promise<void>[] = [];
  for (let index = 0; index / perSecond < seconds(scenario.duration); index++) {
    await delay(Math.max(0, began + (index / perSecond) * 1000 - performance.now()));
    playing.push(iterate(script, told, (index % (scenario.preAllocatedVUs ?? 1)) + 1, index, index));
  }
  await Promise.all(playing);
}

const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '==': (a, b) => a === b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
};

/** As in k6, a rate without a sample crosses no threshold, and a counter without one is 0. */
function holds(metric: string, threshold: string): boolean {
  const [, key = '', sign = '', bound = ''] = /^(\w+)(==|>=|<=|>)(-?\d+)$/.exec(threshold) ?? [];
  const compare = COMPARE[sign];
  if (compare === undefined) throw new Error(`the stand-in does not know the threshold ${threshold}`);
  const values = valuesOf(metric);
  return (values === null && key === 'rate') || compare(values?.[key] ?? 0, Number(bound));
}

async function main(path: string, env: Record<string, string>): Promise<number> {
  Object.assign(globalThis, { __ENV: env });
  const script = (await import(pathToFileURL(path).href)) as Script;
  const { scenarios, thresholds } = script.options;
  const began = performance.now();
  const told: unknown = JSON.parse(JSON.stringify(await script.setup()));
  for (const scenario of Object.values(scenarios)) {
    playing.executor = scenario.executor;
    await (scenario.executor === 'per-vu-iterations' ? perVu : arrivals)(script, told, scenario);
  }
  await script.teardown(told);
  const metrics = [...new Set([...metricNames(), ...Object.keys(thresholds)])];
  const read = metrics.map((name) => [name, { values: valuesOf(name) ?? {} }] as const);
  const data = {
    metrics: Object.fromEntries(read),
    setup_data: told,
    state: { testRunDurationMs: performance.now() - began },
  };
  for (const [file, text] of Object.entries(script.handleSummary(data)))
    if (file === 'stdout') process.stdout.write(text);
    else writeFileSync(file, text);
  const crossed = Object.entries(thresholds).filter(([name, all]) => !all.every((one) => holds(name, one)));
  for (const [name] of crossed) console.error(`the thresholds of ${name} were crossed`);
  return crossed.length === 0 ? 0 : THRESHOLDS_CROSSED;
}

const [path = '', env = '{}'] = process.argv.slice(2);
try {
  process.exitCode = await main(path, JSON.parse(env) as Record<string, string>);
} catch (error) {
  console.error(error);
  process.exitCode = error instanceof Aborted ? ABORTED : SCRIPT_FAILED;
}
