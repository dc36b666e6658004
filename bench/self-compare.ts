/** A real build against itself: whatever a comparison finds then is noise. */
import { percentile, type Benchmark, type Outcome } from './support/benchmark.ts';
import { compared, findingsOf, measureOf, runsOf, showChange } from './support/compared.ts';

const BUILD = { package: 'python:mcp@1.30.0' };
const RUNS = 20;
const BUDGET_SECONDS = 60;

async function once() {
  const began = performance.now();
  const comparison = await compared({ baseline: BUILD, candidate: BUILD, budgetSeconds: BUDGET_SECONDS });
  const p50 = measureOf(comparison, 'calls-p50');
  const perSecond = measureOf(comparison, 'calls-per-second');
  return {
    seconds: (performance.now() - began) / 1000,
    blocks: comparison.performance?.blocks ?? 0,
    regressed: comparison.changes.filter(({ change }) => change === 'regressed').length,
    findings: findingsOf(comparison).map((one) => `${one.id} ${one.decision}`),
    p50: showChange(p50),
    perSecond: showChange(perSecond),
    decided: [p50, perSecond].every(({ decision }) => decision !== 'undecided'),
  };
}

async function run(): Promise<Outcome> {
  const runs = runsOf(RUNS);
  const results: Awaited<ReturnType<typeof once>>[] = [];
  for (let i = 0; i < runs; i++) results.push(await once());
  const clean = results.filter(({ regressed, findings }) => regressed === 0 && findings.length === 0).length;
  const decided = results.filter((one) => one.decided).length;
  return {
    head: ['run', 'blocks', 'seconds', 'regressed', 'findings', 'median time', 'calls per second'],
    rows: results.map((one, i) => [
      String(i + 1),
      String(one.blocks),
      one.seconds.toFixed(0),
      String(one.regressed),
      one.findings.join(', ') || 'none',
      one.p50,
      one.perSecond,
    ]),
    notes: [
      `${BUILD.package} against itself, all cases and up to ${BUDGET_SECONDS} s of speed: ${clean} of ${runs} runs without a regression and without a finding; both measures that can fail were decided in ${decided}. The goal is ${runs} of ${runs} clean.`,
      `Median ${percentile(
        results.map(({ seconds }) => seconds),
        0.5,
      ).toFixed(0)} s a run.`,
    ],
    figures: { runs, clean, decided, results },
  };
}

export const selfCompare: Benchmark = {
  name: 'self-compare',
  title: 'A build against itself',
  onRequest: true,
  run,
};
