/** Two builds over each other. */
import { VariableSort } from '@grafana/grafana-foundation-sdk/dashboard';
import { serverStartTime, sessionsRegistered } from '../src/metrics/catalogue.ts';
import { build, type Classic, type Frame, type Section } from './kit/frame.ts';
import { linksOf, TAG } from './kit/links.ts';
import { datasource, instants, one, several } from './kit/variables.ts';
import * as compare from './panels/compare.ts';
import { chosen, type Scope } from './panels/scope.ts';
import { matching, sel } from './promql.ts';
import type { RulesOptions } from './rules/options.ts';

const CHOSEN = { job: matching('$job'), target: matching('$target') };

export function buildComparison(options: RulesOptions): Classic {
  const side = (build: string): Scope => ({ ...options, side: 'server', where: { ...CHOSEN, build } });
  const pair = { baseline: side('$baseline'), candidate: side('$candidate') };
  const restarts = (name: string, scope: Scope): ReturnType<typeof instants> =>
    instants(name, chosen(scope, serverStartTime), '{{target}} {{build}} worker {{worker}} started');
  return build({
    uid: 'mcp-build-comparison',
    title: 'MCP build comparison',
    says: 'Two builds over each other: registered sessions, memory and completed requests, each apart, and what lies between the two.',
    tags: [TAG, 'mcp'],
    from: 'now-1h',
    refresh: '30s',
    variables: choices(options),
    annotations: [
      restarts('Restart of the baseline', pair.baseline),
      restarts('Restart of the candidate', pair.candidate),
    ],
    links: linksOf(options.runbooks),
    sections: sections(pair),
  });
}

function choices(options: RulesOptions): Frame['variables'] {
  const { job } = CHOSEN;
  const builds = { of: sel(sessionsRegistered, options, CHOSEN), values: 'build' };
  return [
    datasource(),
    several({
      name: 'job',
      label: 'Job',
      says: 'Scrape job of the exporter.',
      of: sel(sessionsRegistered, options),
    }),
    several({
      name: 'target',
      label: 'Target',
      says: 'Servers that are compared.',
      of: sel(sessionsRegistered, options, { job }),
    }),
    one({ name: 'baseline', label: 'Baseline', says: 'The build to measure by.', ...builds }),
    // From the other end, so that the two differ at first.
    one({ name: 'candidate', label: 'Candidate', says: 'The build in question.', ...builds }).sort(
      VariableSort.NaturalDesc,
    ),
  ];
}

const sections = (pair: compare.Pair): Section[] => [
  { title: 'Verdict', panels: [compare.verdicts(pair)] },
  {
    title: 'Registered sessions',
    panels: [
      compare.registeredOverlay(pair),
      compare.registeredDifference(pair),
      compare.driftOverlay(pair),
      compare.keptShare(pair),
    ],
  },
  {
    title: 'Process memory',
    panels: [compare.memoryOverlay(pair), compare.memoryDifference(pair), compare.perSessionOverlay(pair)],
  },
  {
    title: 'Completed requests',
    panels: [compare.requestsOverlay(pair), compare.requestsDifference(pair)],
  },
];
