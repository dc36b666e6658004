/** What a comparison finds, and what it leaves alone: on the suspect, guilty of a little. */
import { suspectTarget } from '../test/support/measure.ts';
import type { Benchmark, Outcome } from './support/benchmark.ts';
import { compared, measureOf, runsOf, showChange } from './support/compared.ts';

const RUNS = 10;
const SESSIONS = 3000;
const KEEPS_ONE_IN = 1000;
const BUDGET_SECONDS = 60;
/** Rounds of hashing in a call of the baseline: some milliseconds, beside which the rest of a call is little. */
const WORK = 8000;

function suspect(...args: string[]): object {
  const target = suspectTarget(null);
  return { ...target, args: [...target.args, ...args] };
}

interface Trial {
  readonly found: boolean;
  readonly shown: string;
}

/** A build that keeps one session in a thousand after DELETE. */
async function leak(): Promise<Trial> {
  const { changes } = await compared({
    baseline: suspect(),
    candidate: suspect('--fault', 'delete-keeps-one-in', '--fault-rate', String(KEEPS_ONE_IN)),
    cases: ['delete'],
    sessions: SESSIONS,
  });
  const change = changes.find(({ claim }) => claim === 'delete.deregisters');
  return { found: change?.change === 'regressed', shown: change?.candidate.observed ?? '–' };
}

/** A build whose calls compute so many times as much. */
async function slower(times: number): Promise<Trial> {
  const comparison = await compared({
    baseline: suspect('--call-work', String(WORK)),
    candidate: suspect('--call-work', String(Math.round(times * WORK))),
    cases: [],
    budgetSeconds: BUDGET_SECONDS,
  });
  const speed = [measureOf(comparison, 'calls-p50'), measureOf(comparison, 'calls-per-second')];
  const [p50] = speed;
  return {
    found: speed.some(({ decision }) => decision === 'worse'),
    shown: p50 === undefined ? '–' : `${showChange(p50)} in ${comparison.performance?.blocks ?? 0} blocks`,
  };
}

const TRIALS = [
  { what: `keeps 1 session in ${KEEPS_ONE_IN} of ${SESSIONS}`, goal: 'found in all', run: leak },
  { what: 'calls 20 % slower', goal: 'found in 9 of 10', run: () => slower(1.2) },
  { what: 'calls 2 % slower', goal: 'found in none', run: () => slower(1.02) },
] as const;

async function run(): Promise<Outcome> {
  const runs = runsOf(RUNS);
  const figures = [];
  for (const { what, goal, run: once } of TRIALS) {
    const trials: Trial[] = [];
    for (let i = 0; i < runs; i++) trials.push(await once());
    figures.push({ what, goal, runs, found: trials.filter(({ found }) => found).length, trials });
  }
  return {
    head: ['candidate', 'found in', 'goal', 'measured'],
    rows: figures.map(({ what, found, goal, trials }) => [
      what,
      `${found} of ${runs}`,
      goal,
      trials.map(({ shown }) => shown).join('\n'),
    ]),
    notes: [
      `The suspect against itself, the candidate guilty of a little; up to ${BUDGET_SECONDS} s a comparison of speed. Measured: the claim's observation, or the change of the median response time with its 99 % interval.`,
    ],
    figures: { trials: figures },
  };
}

export const sensitivity: Benchmark = {
  name: 'sensitivity',
  title: 'What a comparison finds',
  onRequest: true,
  run,
};
