/** Every alert is seen to fire on guilty series and to stay silent on clean ones, by promtool. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { alertsOf, DEFAULT_RULES_OPTIONS, rulesFiles } from '../../dashboards/rules/index.ts';
import { prometheusMissing, promtool } from '../support/prometheus.ts';
import { capScenarios } from './scenarios/cap.ts';
import { ledgerScenarios } from './scenarios/ledger.ts';
import { processScenarios } from './scenarios/processes.ts';
import { recordingTests } from './scenarios/recording.ts';
import { registryScenarios } from './scenarios/registry.ts';
import { restartScenarios } from './scenarios/restarts.ts';
import { testOf, type ScenarioTest } from './support/scenario.ts';
import { surroundings, worker, world } from './support/world.ts';

const SCENARIOS = [
  ...ledgerScenarios,
  ...registryScenarios,
  ...capScenarios,
  ...processScenarios,
  ...restartScenarios,
];

const folder = mkdtempSync(join(tmpdir(), 'mcp-retention-rules-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const rules = join(folder, 'rules.yml');
writeFileSync(rules, rulesFiles(DEFAULT_RULES_OPTIONS)[0]?.text ?? '');

let files = 0;
async function passes(test: ScenarioTest, evaluated: '15s' | '1m' = '15s'): Promise<void> {
  const file = join(folder, `${String((files += 1))}.yml`);
  const content = { rule_files: [rules], evaluation_interval: evaluated, tests: [test] };
  writeFileSync(file, stringify(content, { aliasDuplicateObjects: false }));
  const { code, output } = await promtool(['test', 'rules', file]);
  assert.equal(code, 0, output);
}

/** What lasts for hours is evaluated each minute: it takes promtool its time. */
const evaluated = (minutes: number): '15s' | '1m' => (minutes > 60 ? '1m' : '15s');

describe('alerts', { skip: prometheusMissing, concurrency: 2 }, () => {
  for (const scenario of SCENARIOS) {
    const verb = scenario.fires.length > 0 ? 'fires' : 'is silent';
    it(`${scenario.alert} ${verb}: ${scenario.title}`, () =>
      passes(testOf(scenario), evaluated(scenario.at)));
  }

  it('are all silent, and none is pending, in a healthy world for three hours', () =>
    passes(
      {
        interval: '15s',
        name: 'healthy',
        input_series: [
          ...worker(180),
          ...worker(180, { worker: 'w2' }),
          ...surroundings(180, { expected: { min: '200x719', max: '200x719' } }),
        ],
        promql_expr_test: [{ expr: 'count_over_time(ALERTS[3h])', eval_time: '180m', exp_samples: [] }],
      },
      evaluated(180),
    ));

  it('are silent in production, where no ledger is', () =>
    passes(
      {
        interval: '15s',
        name: 'production',
        input_series: world(180, {}, { expected: null }),
        promql_expr_test: [{ expr: 'count_over_time(ALERTS[3h])', eval_time: '180m', exp_samples: [] }],
      },
      evaluated(180),
    ));
});

describe('recording rules', { skip: prometheusMissing, concurrency: 2 }, () => {
  for (const test of recordingTests) it(test.name, () => passes(test));
});

describe('alerts', () => {
  it('each have a guilty and a clean scenario', () => {
    const wanted = alertsOf(DEFAULT_RULES_OPTIONS).map(({ name }) => name);
    for (const name of wanted) {
      const own = SCENARIOS.filter(({ alert }) => alert === name);
      assert.ok(
        own.some(({ fires }) => fires.length > 0),
        `${name} is never seen to fire`,
      );
      assert.ok(
        own.some(({ fires }) => fires.length === 0),
        `${name} is never seen to stay silent`,
      );
    }
    assert.deepEqual([...new Set(SCENARIOS.map(({ alert }) => alert))].sort(), [...wanted].sort());
  });
});
