/** dashboards: Grafana dashboards and Prometheus rules for one's own labels and thresholds. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import type { DashboardFile } from '../../dashboards/index.ts';
import type { RulesOptions } from '../../dashboards/rules/options.ts';
import { ConfigError } from '../config/load.ts';
import { duration } from '../config/schema.ts';
import { UsageError } from '../targets/target.ts';
import { folder } from './options.ts';
import { checkFolder } from './places.ts';
import { parseSelector } from './selector.ts';

interface Options {
  readonly out: string;
  readonly selector: string;
  readonly loadSelector: string;
  readonly idleMax?: string;
  readonly maxSessions?: string;
  readonly scrapeInterval: string;
  readonly runbookUrl?: string;
  readonly force?: true;
}

export function dashboardsCommand(root: Command, done: (code: 0) => void): void {
  root
    .command('dashboards')
    .description('Grafana dashboards and Prometheus rules to import')
    .requiredOption('--out <dir>', 'where to; made if it is not there', folder)
    .option('--selector <matchers>', 'which of the exporter’s series, as in job="mcp"', '')
    .option('--load-selector <matchers>', 'which of the load side’s series', '')
    .option(
      '--idle-max <duration>',
      'a session must be gone after this long (default: the servers’ own timeout)',
    )
    .option('--max-sessions <n>', 'cap on sessions, for servers that have none of their own')
    .option('--scrape-interval <duration>', 'how often Prometheus scrapes exporter and load', '15s')
    .option(
      '--runbook-url <url>',
      'page with a section for each alert (docs/runbooks.md, where it is served)',
    )
    .option('--force', 'overwrite files that are there with other content')
    .action(async (options: Options) => {
      process.stdout.write((await writeDashboards(options)) + '\n');
      done(0);
    });
}

/** @throws UsageError, ConfigError: nothing has been written then, unless the disk itself refused midway */
async function writeDashboards(options: Options): Promise<string> {
  const { dashboardFiles } = await import('../../dashboards/index.ts');
  const { DEFAULT_RULES_OPTIONS, rulesFiles } = await import('../../dashboards/rules/index.ts');
  const { kubernetesFiles } = await import('../../dashboards/kubernetes.ts');
  const wanted = { ...DEFAULT_RULES_OPTIONS, ...rulesOptionsOf(options) };
  const files = [...dashboardFiles(wanted), ...rulesFiles(wanted), ...kubernetesFiles(wanted)];
  const changed = files.filter(({ path, text }) => contentOf(join(options.out, path)) !== text);
  if (options.force !== true) refuseToOverwrite(options.out, changed);
  // Making folders where none can be made, as in /proc, does not end in Node.js.
  if (changed.length > 0) checkFolder('--out', options.out);
  for (const file of changed) write(options.out, file);
  const kept = files.length - changed.length;
  return [
    `wrote ${changed.length} file${changed.length === 1 ? '' : 's'} to ${options.out}${kept > 0 ? ` (${kept} current already)` : ''}:`,
    ...changed.map(({ path }) => `  ${path}`),
  ].join('\n');
}

function rulesOptionsOf(options: Options): Partial<RulesOptions> {
  const { idleMax, maxSessions, runbookUrl } = options;
  return {
    selector: parseSelector(options.selector, '--selector'),
    loadSelector: parseSelector(options.loadSelector, '--load-selector'),
    scrapeIntervalSeconds: seconds(options.scrapeInterval, '--scrape-interval'),
    ...(idleMax !== undefined && { idleMaxSeconds: seconds(idleMax, '--idle-max') }),
    ...(maxSessions !== undefined && { maxSessions: positive(maxSessions) }),
    ...(runbookUrl !== undefined && { runbooks: address(runbookUrl) }),
  };
}

/** Whole seconds: Prometheus' rules are written in them. */
function seconds(text: string, option: string): number {
  const parsed = duration.safeParse(text);
  if (!parsed.success || parsed.data < 1)
    throw new UsageError(`${option}: ${text} is no length of time: write 90s, 30m or 2h, at least 1s.`);
  return Math.round(parsed.data);
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`--max-sessions: ${text} is no cap: write a whole number, 1 or more.`);
  return Number(text);
}

function address(text: string): string {
  if (!/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : ''))
    throw new UsageError(
      `--runbook-url: ${text} is no address: write one that begins with http:// or https://.`,
    );
  const { username, password, hash } = new URL(text);
  if (username !== '' || password !== '')
    throw new UsageError(
      '--runbook-url: it has a password in it, which every alert would show: give it without one.',
    );
  if (hash !== '' || text.endsWith('#'))
    throw new UsageError('--runbook-url: each alert adds its own #section: give the address without one.');
  return text;
}

function refuseToOverwrite(out: string, files: readonly DashboardFile[]): void {
  const [first, ...others] = files.filter(({ path }) => existsSync(join(out, path)));
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  throw new UsageError(
    `${join(out, first.path)}${more} would be overwritten with other content: name another folder, or allow it with --force.`,
  );
}

function contentOf(path: string): string | null {
  try {
    // A pipe would be waited for, and is not what we wrote.
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : null;
  } catch {
    return null;
  }
}

function write(out: string, { path, text }: DashboardFile): void {
  const file = join(out, path);
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } catch (error) {
    throw new ConfigError(`cannot write ${file}: ${(error as Error).message}`);
  }
}
