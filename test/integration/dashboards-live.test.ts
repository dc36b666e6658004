/** Every query of every dashboard, asked of a real Prometheus: on servers under load, and on nothing at all. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { dashboardsOf } from '../../dashboards/index.ts';
import { latestStart } from '../../dashboards/rules/names.ts';
import { DEFAULT_RULES_OPTIONS, ruleGroups } from '../../dashboards/rules/index.ts';
import { serverStartTime } from '../../src/metrics/catalogue.ts';
import { CLEAN, KEEPER, startFleet } from '../support/fleet.ts';
import { everyQuery, fill, type Asked } from '../support/grafana.ts';
import { prometheusMissing, startPrometheus, type RunningPrometheus } from '../support/prometheus.ts';

const OPTIONS = {
  ...DEFAULT_RULES_OPTIONS,
  selector: 'job="mcp"',
  scrapeIntervalSeconds: 1,
  idleMaxSeconds: 60,
};

/** What a reader chooses at first: everything, and the first two builds. */
const CHOICES = {
  ...{ job: '.+', instance: '.+', target: '.*', build: '.*', worker: '.*', run: '.*', case: '.*' },
  baseline: KEEPER.build,
  candidate: CLEAN.build,
  __rate_interval: '5s',
  __range: '5m',
};

const DEADLINE_MS = 90_000;

const named = ({ dashboard, panel, refId }: Asked): string => `${dashboard}: ${panel} ${refId}`;

/** @param jobs scrape jobs: name → `host:port` */
async function withPrometheus(
  jobs: Readonly<Record<string, string>>,
  use: (prometheus: RunningPrometheus) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mcpr-rules-'));
  // One alert waits, as it does at home; the others fire at once.
  const groups = ruleGroups(OPTIONS).map((group) => ({
    ...group,
    rules: group.rules.map((rule) =>
      'alert' in rule ? { ...rule, for: rule.alert === 'McpSessionRemnants' ? '1h' : '0s' } : rule,
    ),
  }));
  writeFileSync(join(folder, 'rules.yml'), stringify({ groups }));
  const prometheus = await startPrometheus({
    global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
    rule_files: [join(folder, 'rules.yml')],
    scrape_configs: Object.entries(jobs).map(([job, address]) => ({
      job_name: job,
      static_configs: [{ targets: [address] }],
    })),
  });
  try {
    await use(prometheus);
  } finally {
    await prometheus.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The other way round: memory per retained session is there for a build that keeps some. */
const EXCHANGED = { ...CHOICES, baseline: CLEAN.build, candidate: KEEPER.build };

/** Asks again until each has been answered with a number; gives those that were not. */
async function unanswered(
  prometheus: RunningPrometheus,
  queries: readonly Asked[],
  ...choices: readonly Readonly<Record<string, string>>[]
): Promise<string[]> {
  const open = new Set(queries);
  const deadline = performance.now() + DEADLINE_MS;
  while (open.size > 0 && performance.now() < deadline) {
    for (const query of open) {
      for (const choice of choices) if (await hasNumber(prometheus, query, choice)) open.delete(query);
    }
    if (open.size > 0) await sleep(500);
  }
  return [...open].map(named);
}

async function hasNumber(
  prometheus: RunningPrometheus,
  query: Asked,
  choice: Readonly<Record<string, string>>,
): Promise<boolean> {
  const series = await prometheus.query(fill(query.expr, choice)).catch((error: unknown) => {
    throw new Error(`${named(query)}: ${(error as Error).message}: ${query.expr}`);
  });
  return series.some(({ value }) => Number.isFinite(Number(value[1])));
}

test('every panel and annotation shows the servers under load', { skip: prometheusMissing }, async () => {
  const fleet = await startFleet();
  try {
    await withPrometheus({ mcp: fleet.exporter, 'mcp-load': fleet.load }, async (prometheus) => {
      const queries = everyQuery(OPTIONS);
      assert.deepEqual(await unanswered(prometheus, queries, CHOICES, EXCHANGED), []);

      // k6's series, under the catalogue's names: all of the load's side but what k6 does not count.
      const ledger = queries.filter(
        ({ dashboard, panel }) =>
          dashboard === 'load-run' && /^(Opened|Deleted|Abandoned|Refused|Requests by|Expected)/.test(panel),
      );
      const ofClient = ledger.filter(({ expr }) => expr.includes('run=~'));
      assert.ok(ofClient.length >= 9);
      assert.deepEqual(await unanswered(prometheus, ofClient, { ...CHOICES, run: 'k6-.*' }), []);

      await variablesHaveValues(prometheus);
      await verdictsAreRight(prometheus, queries);
      await restartShows(prometheus, () => fleet.restart());
      await silenceIsNoHealing(prometheus, queries, () => fleet.kill());
    });
  } finally {
    await fleet.stop();
  }
});

async function variablesHaveValues(prometheus: RunningPrometheus): Promise<void> {
  for (const [name, dashboard] of Object.entries(dashboardsOf(OPTIONS)))
    for (const { definition } of dashboard.templating.list ?? []) {
      if (definition === undefined) continue;
      const [, selector = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
      const found = (await prometheus.get('series', { 'match[]': fill(selector, CHOICES) })) as Record<
        string,
        string
      >[];
      assert.ok(
        found.some((series) => label in series),
        `${name}: ${definition}`,
      );
    }
}

async function verdictsAreRight(prometheus: RunningPrometheus, queries: readonly Asked[]): Promise<void> {
  const verdict = queries.find(({ panel }) => panel === 'Verdict now');
  assert.ok(verdict);
  const given = async () => {
    const series = await prometheus.query(fill(verdict.expr, CHOICES));
    return series.map(({ metric, value }) => [metric.target, Number(value[1])] as const);
  };
  const deadline = performance.now() + DEADLINE_MS;
  let series = await given();
  // A scrape that a busy machine did not get done in time takes the verdicts away until the next.
  while (series.length < 2 && performance.now() < deadline) {
    await sleep(200);
    series = await given();
  }
  assert.equal(series.length, 2, 'one verdict for each build');
  const codes = new Map(series);
  assert.equal(codes.get(KEEPER.target), 5, 'keeps terminated sessions');
  assert.ok([0, 1].includes(codes.get(CLEAN.target) ?? -1), 'holds, or is at its cap at this moment');
}

async function restartShows(prometheus: RunningPrometheus, restart: () => Promise<void>): Promise<void> {
  const starts = `count(last_over_time(${serverStartTime.name}{target="${KEEPER.target}"}[5m]))`;
  const deadline = performance.now() + DEADLINE_MS;
  const latest = async (): Promise<number> =>
    Number((await prometheus.query(latestStart.name))[0]?.value[1] ?? 0);
  while ((await latest()) === 0) {
    assert.ok(performance.now() < deadline, 'the start is known');
    await sleep(200);
  }
  await restart();
  const seen = async (): Promise<number> => Number((await prometheus.query(starts))[0]?.value[1] ?? 0);
  while ((await seen()) < 2) {
    assert.ok(performance.now() < deadline, 'the restart is seen');
    await sleep(200);
  }
}

async function silenceIsNoHealing(
  prometheus: RunningPrometheus,
  queries: readonly Asked[],
  kill: () => Promise<void>,
): Promise<void> {
  const ask = async (panel: string): Promise<Map<string, number>> => {
    const query = queries.find((candidate) => candidate.panel === panel);
    assert.ok(query);
    const series = await prometheus.query(fill(query.expr, CHOICES));
    return new Map(series.map(({ metric, value }) => [metric.target ?? '', Number(value[1])]));
  };
  const deadline = performance.now() + DEADLINE_MS;
  while ((await ask('Verdict now')).get(KEEPER.target) !== 5) {
    assert.ok(performance.now() < deadline, 'it keeps terminated sessions again');
    await sleep(200);
  }
  while ((await ask('Builds fallen silent')).get('') !== 0) {
    assert.ok(performance.now() < deadline, 'nobody is silent yet');
    await sleep(200);
  }
  await kill();
  while ((await ask('Builds fallen silent')).get('') !== 1) {
    assert.ok(performance.now() < deadline, 'the silence is seen');
    assert.notEqual((await ask('Verdict now')).get(KEEPER.target), 0, 'a dead server does not hold');
    await sleep(200);
  }
  assert.ok(!(await ask('Verdict now')).has(KEEPER.target), 'no verdict without counts');
}

test('with nothing to look at, no panel has anything to show', { skip: prometheusMissing }, async () => {
  await withPrometheus({}, async (prometheus) => {
    // McpExporterAbsent is all that a Prometheus without targets has to say.
    const queries = everyQuery(OPTIONS).filter(({ panel }) => panel !== 'Alerts');
    for (const query of queries)
      assert.deepEqual(await prometheus.query(fill(query.expr, CHOICES)), [], named(query));
  });
});
