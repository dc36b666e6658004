/** The load side: what was asked of the servers, and what its ledger says must be there. */
import { clientOpened, serverStartTime } from '../src/metrics/catalogue.ts';
import { build, type Classic, type Section } from './kit/frame.ts';
import { linksOf, TAG } from './kit/links.ts';
import { datasource, instants, several, type Choice } from './kit/variables.ts';
import * as load from './panels/load.ts';
import { chosen, type Scope } from './panels/scope.ts';
import { matching, sel } from './promql.ts';
import type { RulesOptions } from './rules/options.ts';

/** No job among them: k6's series, under the catalogue's names, come from a rule and have none. */
const CHOICES: readonly Omit<Choice, 'of'>[] = [
  { name: 'run', label: 'Run', says: 'One run of the load.' },
  { name: 'case', label: 'Case', says: 'Case of the mix.' },
  { name: 'target', label: 'Target', says: 'Server under load.' },
  { name: 'build', label: 'Build', says: 'Package and version, or the name of the configuration.' },
];

const where = (names: readonly string[]): Scope['where'] =>
  Object.fromEntries(names.map((name) => [name, matching(`$${name}`)]));

export function loadRun(options: RulesOptions): Classic {
  const names = CHOICES.map(({ name }) => name);
  const scope: Scope = { ...options, side: 'load', where: where(names) };
  return build({
    uid: 'mcp-load-run',
    title: 'MCP load run',
    says: 'What the load asked of each target, and what its ledger says must be registered: of mcp-retention load, and of k6 by way of the rules.',
    tags: [TAG, 'mcp'],
    from: 'now-1h',
    refresh: '10s',
    variables: [
      datasource(),
      ...CHOICES.map((choice, index) =>
        several({ ...choice, of: sel(clientOpened, options, where(names.slice(0, index))) }),
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
  {
    title: 'Ledger',
    panels: [
      load.openedTotal(scope),
      load.deletedTotal(scope),
      load.abandonedTotal(scope),
      load.uncertainTotal(scope),
      load.openedAndEnded(scope),
      load.byCase(scope),
    ],
  },
  {
    title: 'Ledger against server',
    panels: [
      load.expectedAgainstRegistered(scope),
      load.drift(scope),
      load.openedAgainstRegistrations(scope),
      load.refused(scope),
    ],
  },
  {
    title: 'Requests',
    panels: [load.requestsByStatus(scope), load.latency(scope), load.lateArrivals(scope)],
  },
];
