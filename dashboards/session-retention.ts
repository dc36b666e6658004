/** The fleet: what each build keeps, over time. */
import { serverStartTime, sessionsRegistered } from '../src/metrics/catalogue.ts';
import { build, type Classic, type Section } from './kit/frame.ts';
import { linksOf, TAG } from './kit/links.ts';
import { datasource, instants, several, type Choice } from './kit/variables.ts';
import * as cap from './panels/cap.ts';
import * as evidence from './panels/evidence.ts';
import * as idle from './panels/idle.ts';
import * as memory from './panels/memory.ts';
import * as requests from './panels/requests.ts';
import { chosen, type Scope } from './panels/scope.ts';
import * as sessions from './panels/sessions.ts';
import * as turnover from './panels/turnover.ts';
import * as verdict from './panels/verdict.ts';
import { matching, sel } from './promql.ts';
import type { RulesOptions } from './rules/options.ts';

/** Each choice narrows those after it. */
const CHOICES: readonly Omit<Choice, 'of'>[] = [
  { name: 'job', label: 'Job', says: 'Scrape job of the exporter.' },
  { name: 'instance', label: 'Exporter', says: 'Exporter, where several run: one beside each pod.' },
  { name: 'target', label: 'Target', says: 'Server, as the exporter’s configuration calls it.' },
  { name: 'build', label: 'Build', says: 'Package and version, or the name of the configuration.' },
  { name: 'worker', label: 'Worker', says: 'Worker process.' },
];

const where = (names: readonly string[]): Scope['where'] =>
  Object.fromEntries(names.map((name) => [name, matching(`$${name}`)]));

export function sessionRetention(options: RulesOptions): Classic {
  const names = CHOICES.map(({ name }) => name);
  const scope: Scope = { ...options, side: 'server', where: where(names) };
  return build({
    uid: 'mcp-session-retention',
    title: 'MCP session retention',
    says: 'Do the servers let go of the sessions that they should let go of, and keep those that they should keep? Registered sessions, memory and completed requests, kept apart.',
    tags: [TAG, 'mcp'],
    from: 'now-6h',
    refresh: '30s',
    variables: [
      datasource(),
      ...CHOICES.map((choice, index) =>
        several({ ...choice, of: sel(sessionsRegistered, options, where(names.slice(0, index))) }),
      ),
    ],
    annotations: [
      instants('Restart', chosen(scope, serverStartTime), '{{target}} {{build}} worker {{worker}} started'),
    ],
    links: linksOf(options.runbooks),
    sections: sections(scope),
  });
}

const sections = (scope: Scope): Section[] => [
  overview(scope),
  registered(scope),
  { title: 'Idle sessions', panels: [idle.oldestIdle(scope), idle.idleOlderThan(scope)] },
  comingAndGoing(scope),
  {
    title: 'Cap',
    panels: [cap.capUseOverTime(scope), cap.timeToCapOverTime(scope), cap.memoryAtCapOverTime(scope)],
  },
  {
    title: 'Process memory',
    panels: [
      memory.residentMemory(scope),
      memory.memoryPerSession(scope),
      memory.openFds(scope),
      memory.children(scope),
    ],
  },
  {
    title: 'Completed requests',
    panels: [requests.completedRequests(scope), requests.requestsPerSession(scope)],
  },
  {
    title: 'Can this be believed?',
    panels: [evidence.collectors(scope), evidence.collectorTime(scope), evidence.versions(scope)],
  },
];

const overview = (scope: Scope): Section => ({
  title: 'Verdict',
  panels: [
    verdict.verdictNow(scope),
    evidence.workersNow(scope),
    evidence.silentNow(scope),
    sessions.remnantsNow(scope),
    sessions.identityNow(scope),
    idle.oldestIdleNow(scope),
    cap.capUseNow(scope),
    verdict.verdictOverTime(scope),
    verdict.alerts(),
  ],
});

const registered = (scope: Scope): Section => ({
  title: 'Registered sessions',
  panels: [
    sessions.registeredAgainstExpected(scope),
    sessions.retentionDriftOverTime(scope),
    sessions.identityOverTime(scope),
    sessions.remnantsOverTime(scope),
    sessions.growth(scope),
    sessions.inFlight(scope),
    sessions.openStreams(scope),
    sessions.byWorker(scope),
  ],
});

const comingAndGoing = (scope: Scope): Section => ({
  title: 'Coming and going',
  panels: [
    turnover.comingAndGoing(scope),
    turnover.removalsByReason(scope),
    turnover.rejections(scope),
    turnover.shares(scope),
    idle.endedLifetimes(scope),
    evidence.uptime(scope),
  ],
});
