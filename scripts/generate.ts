/**
 * Writes what follows from the code: the JSON Schemas of the contracts, the HTML report's script and style, the
 * Grafana dashboards, the Prometheus rules, both as a cluster takes them too. `--check` writes nothing and fails when a
 * file is not current.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { dashboardFiles } from '../dashboards/index.ts';
import { kubernetesFiles } from '../dashboards/kubernetes.ts';
import { DEFAULT_RULES_OPTIONS, rulesFiles, type RulesOptions } from '../dashboards/rules/index.ts';
import { loadConfig } from '../src/config/load.ts';
import { configSchema, duration } from '../src/config/schema.ts';
import { processMessageSchema, snapshotSchema } from '../src/observe/snapshot.ts';
import { recordSchema } from '../src/recording/schema.ts';
import { reportSchema } from '../src/verdict/schema.ts';
import { pageModule } from './page.ts';

/** A path below the project's folder, and what must stand there. */
interface Generated {
  readonly path: string;
  readonly text: string;
}

const TITLES: Record<string, [string, z.ZodType]> = {
  'config.v1': ['mcp-retention.yaml', configSchema],
  'probe-snapshot.v1': ['Answer of a probe to GET /v1/snapshot', snapshotSchema],
  'probe-process.v1': ['Answer of a probe to GET /v1/process', processMessageSchema],
  'recording.v2': ['One line of a recording', recordSchema],
  'report.v1': ['JSON report', reportSchema],
};

const schemas: Generated[] = Object.entries(TITLES).map(([name, [title, schema]]) => ({
  path: `schemas/${name}.json`,
  text: JSON.stringify({ title, ...z.toJSONSchema(schema, { io: 'input' }) }, null, 2) + '\n',
}));

const below = (folder: string, files: readonly Generated[]): Generated[] =>
  files.map(({ path, text }) => ({ path: `${folder}/${path}`, text }));

const shown = await demonstration();
const generated = [
  ...schemas,
  { path: 'src/report/html/assets.generated.ts', text: await pageModule() },
  ...below('dashboards/dist', [
    ...dashboardFiles(DEFAULT_RULES_OPTIONS),
    ...rulesFiles(DEFAULT_RULES_OPTIONS),
    ...kubernetesFiles(DEFAULT_RULES_OPTIONS),
  ]),
  ...below('deploy/prometheus', rulesFiles(shown)),
  // What docker compose shows must speak of the same policy as the rules beside it.
  ...below(
    'deploy/grafana/dashboards',
    dashboardFiles(shown).filter(({ path }) => /^[\w-]+\.json$/.test(path)),
  ),
];

/** docker-compose.yml shows a policy of its own, at a pace at which something is to be seen within a minute. */
async function demonstration(): Promise<RulesOptions> {
  const { policy } = await loadConfig(new URL('../deploy/mcp-retention.yaml', import.meta.url).pathname);
  const prometheus = new URL('../deploy/prometheus/prometheus.yml', import.meta.url);
  const { global } = parse(readFileSync(prometheus, 'utf8')) as { global: { scrape_interval: string } };
  return {
    ...DEFAULT_RULES_OPTIONS,
    ...(policy.idleMax !== undefined && { idleMaxSeconds: policy.idleMax }),
    ...(policy.maxSessions !== undefined && { maxSessions: policy.maxSessions }),
    scrapeIntervalSeconds: duration.parse(global.scrape_interval),
  };
}

const root = new URL('../', import.meta.url);
const check = process.argv.includes('--check');
const stale: string[] = [];
for (const { path, text } of generated) {
  const file = new URL(path, root);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  stale.push(path);
  if (check) continue;
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
}
if (stale.length > 0)
  console.log(`${check ? 'not current (npm run generate mends it)' : 'wrote'}: ${stale.join(', ')}`);
if (check && stale.length > 0) process.exitCode = 1;
