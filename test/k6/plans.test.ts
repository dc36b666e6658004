/** The same seed, case and index give the same session plan in k6 and in our own driver. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { planOf, type PlayStage } from '../../src/cases/case.ts';
import { deleteCase } from '../../src/cases/delete.ts';
import { planOfArrival } from '../../src/cases/mixed.ts';
import { K6 } from '../support/k6/run.ts';

const SCRIPT = fileURLToPath(new URL('../fixtures/k6/plans.ts', import.meta.url));
const SEED = 7;
const SIZE = { sessions: 40, warmUp: 10, concurrency: 4 };

function said(scenario: string): string[] {
  const args = [
    'run',
    '--quiet',
    '--address',
    '',
    '--log-format',
    'raw',
    '-e',
    `SCENARIO=${scenario}`,
    SCRIPT,
  ];
  const { status, stderr } = spawnSync(K6 ?? 'k6', args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return [...stderr.matchAll(/^PLAN (.*)$/gm)].map(([, text]) => text ?? '').sort();
}

const sorted = (plans: readonly unknown[]): string[] => plans.map((plan) => JSON.stringify(plan)).sort();

const skip = K6 === null && 'no k6 (K6_BIN)';

test('a case’s plans, by k6’s virtual users and their iterations', { skip }, () => {
  const stages = deleteCase
    .stages({ size: SIZE, settings: {} })
    .filter((stage): stage is PlayStage => stage.kind === 'play');
  const ofCase = stages.flatMap((stage) =>
    Array.from({ length: stage.sessions }, (_, i) => ['delete', stage.name, i, planOf(stage, SEED, i)]),
  );
  assert.deepEqual(said('delete'), sorted(ofCase));
});

test('arrivals, by k6’s iteration numbers', { skip }, () => {
  const arrivals = said('mixed');
  assert.ok(arrivals.length >= 90, String(arrivals.length));
  const expected = arrivals.map((_, i) => ['mixed', 'arrival', i, planOfArrival(SEED, i)]);
  assert.deepEqual(arrivals, sorted(expected));
});
