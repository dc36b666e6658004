/**
 * The demonstration without Docker: the commands, configuration and prometheus.yml of docker-compose.yml as plain
 * processes, until the affected build's drift is seen to grow and the patched one's not to.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import * as names from '../../dashboards/rules/names.ts';
import { composed, DEMO_RULES, type Composed } from '../support/composed.ts';
import { prometheusMissing, startPrometheus, type RunningPrometheus } from '../support/prometheus.ts';

const DEADLINE_MS = 120_000;

/** Asks again until the answer is as wanted; at the deadline it fails with what it saw last. */
async function eventually<T>(
  what: string,
  ask: () => Promise<T>,
  wanted: (answer: T) => boolean,
): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > deadline)
      throw new Error(`${what}: not within the deadline; last ${JSON.stringify(answer)}`);
    await sleep(500);
  }
}

const answers = (url: string): Promise<boolean> => fetch(url).then(({ ok }) => ok, () => false); // prettier-ignore

interface Rule {
  readonly name: string;
  readonly type: string;
  readonly health: string;
  readonly lastError?: string;
}

const rulesOf = async (prometheus: RunningPrometheus): Promise<Rule[]> =>
  ((await prometheus.get('rules')) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules);

async function startDemonstration(stack: Composed): Promise<RunningPrometheus> {
  await Promise.all(['affected', 'patched'].map((name) => stack.start(name)));
  for (const name of ['affected', 'patched'])
    await eventually(name, () => answers(`http://${stack.address(name)}:8000/healthz`), Boolean);
  await Promise.all(['exporter', 'load'].map((name) => stack.start(name)));
  for (const [name, port] of [
    ['exporter', 19640],
    ['load', 19641],
  ] as const)
    // prettier-ignore
    await eventually(name, () => answers(`http://${stack.address(name)}:${String(port)}/healthz`), Boolean);
  const config = parse(stack.mapped('prometheus', 'deploy/prometheus/prometheus.yml')) as object;
  return startPrometheus({ ...config, rule_files: [DEMO_RULES] });
}

const driftOf = (target: string): string => `${names.retentionDrift.name}{target="${target}"}`;

async function look(prometheus: RunningPrometheus): Promise<void> {
  const one = async (query: string): Promise<number | null> => {
    const [sample] = await prometheus.query(query);
    return sample === undefined ? null : Number(sample.value[1]);
  };
  const down = 'up{job=~"exporter|load"} == 0';
  await eventually('targets up', () => prometheus.query('up{job=~"exporter|load"} == 1'), (up) => up.length === 2); // prettier-ignore
  const first = await eventually(
    'drift',
    () => one(driftOf('affected')),
    (drift) => (drift ?? 0) > 10,
  );
  await eventually(
    'growth',
    () => one(driftOf('affected')),
    (drift) => (drift ?? 0) > (first ?? 0) + 20,
  );
  assert.equal(await one(driftOf('patched')), 0);
  assert.equal(await one(`max_over_time(abs(${driftOf('patched')})[5m:1s])`), 0, 'patched was never adrift');
  assert.equal(await one(`max(abs(max_over_time(${names.identityDrift.name}[5m])))`), 0);
  assert.deepEqual(await prometheus.query(`count_over_time((${down})[5m:1s])`), []);
  const rules = await rulesOf(prometheus);
  assert.ok(rules.length > 40);
  assert.deepEqual(
    rules.filter(({ health }) => health !== 'ok'),
    [],
  );
}

describe('demonstration', { skip: prometheusMissing }, () => {
  it('shows the affected build drift, and the patched one not, under the same load', async () => {
    const stack = composed(['affected', 'patched', 'exporter', 'load', 'prometheus']);
    let prometheus: RunningPrometheus | null = null;
    try {
      prometheus = await startDemonstration(stack);
      await look(prometheus);
    } finally {
      await prometheus?.stop();
      await stack.stop();
    }
  });
});
