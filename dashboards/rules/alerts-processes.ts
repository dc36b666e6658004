/** Alerts about server processes, and about what keeps this tool from seeing them. */
import {
  clientExpected,
  collectorSuccess,
  probeSupported,
  serverResidentMemory,
  serverStartTime,
  sessionsRegistered,
} from '../../src/metrics/catalogue.ts';
import type { Alert } from './alert.ts';
import { by, call, over, sel, up, type Matchers, type Series } from '../promql.ts';
import { lastingGrowth } from './growth.ts';
import * as names from './names.ts';
import { STARTS_WINDOW, windowsOf, type RulesOptions } from './options.ts';

export const processAlerts = (options: RulesOptions): Alert[] => [
  memoryGrows(options),
  memoryNear(options),
  restarts(options),
  ...exporterAlerts(options),
  ...absenceAlerts(options),
  driftUnknown(options),
  ...probeAlerts(options),
];

const ON_WORKER = 'worker {{ $labels.worker }} of {{ $labels.build }} at {{ $labels.target }}';

/**
 * A fifth of what is resident and at least 32 MiB, within the long window and in both of its halves: a single step is
 * no growth. Not while a worker still warms up.
 */
const memoryGrows = (options: RulesOptions): Alert => {
  const { long, longSeconds } = windowsOf(options);
  const sessions = `${call('deriv', over(names.workerRegistered, options, long))} * ${String(longSeconds)}`;
  const growth = lastingGrowth(serverResidentMemory, options);
  const on = `on (job, instance, ${serverStartTime.labels.join(', ')})`;
  const noticeable = call('clamp_min', `0.2 * ${sel(serverResidentMemory, options)}`, 32 * 1024 * 1024);
  return {
    name: 'McpMemoryGrowsWithoutSessions',
    severity: 'warning',
    expr: `${growth.total} > ${noticeable}
and ${growth.inBothHalves}
and ${on} abs(${sessions}) < 0.05 * ${sel(names.workerRegistered, options)} + 5
and ${on} time() - ${sel(serverStartTime, options)} > ${String(2 * longSeconds)}`,
    for: '10m',
    summary: `Memory of ${ON_WORKER} grows while its sessions do not`,
    description: `Resident memory has grown by {{ $value | humanize1024 }}B within ${long}. It is not held by registered sessions.`,
  };
};

/** Only where the sessions that may still come do not fit: a server that is meant to fill its memory is well. */
const memoryNear = (options: RulesOptions): Alert => ({
  name: 'McpMemoryLimitNear',
  severity: 'warning',
  expr: `${sel(names.memoryUse, options)} > 0.8 and ${sel(names.memoryAtCapTogether, options)} > 1`,
  for: '10m',
  summary: 'Memory of {{ $labels.target }} at {{ $labels.instance }} is full before its session cap is',
  description:
    'Its workers together hold {{ $value | humanizePercentage }} of their memory limit, and the sessions that they may still take do not fit in the rest.',
});

/**
 * More starts than one deployment, or a change of scale, explains: those start each worker once, so no more than were
 * ever there at once, less those that have not been started anew. Or more than two of one worker, which neither does.
 * All are recorded by one group, hence of one instant: a start must not leave one count before the other.
 */
const restarts = (options: RulesOptions): Alert => {
  const labels = names.targetStarts.labels;
  const starts = sel(names.targetStarts, options);
  const most = call('max_over_time', over(names.workersSeen, options, STARTS_WINDOW));
  const older = sel(names.workersOlder, options);
  const ofOneWorker = by('max', labels, sel(names.workerStarts, options));
  return {
    name: 'McpServerRestarts',
    severity: 'warning',
    expr: `${starts} > (${most} - (${older} or ${most} * 0))
or ${starts} and ${ofOneWorker} > 2`,
    for: '1m',
    summary: '{{ $labels.build }} at {{ $labels.target }} keeps restarting',
    description:
      'Workers were started {{ $value }} times within 30 minutes. Each start ends all sessions and hides a leak.',
  };
};

const exporterAlerts = (options: RulesOptions): Alert[] => [
  {
    name: 'McpExporterAbsent',
    severity: 'critical',
    expr: call('absent', sel(collectorSuccess, options)),
    for: '5m',
    summary: 'No session exporter is scraped',
    description:
      'Prometheus has no series of an exporter. Nothing is known of sessions; no alert can tell of a leak.',
  },
  {
    name: 'McpExporterDown',
    severity: 'critical',
    expr: `${up.name} == 0 and on (job, instance) ${call('last_over_time', over(collectorSuccess, options, '1d'))}`,
    for: '2m',
    summary: 'Session exporter {{ $labels.instance }} is down',
    description:
      'Its last scrape failed. Silence about the targets behind it does not mean that they are well.',
  },
  {
    name: 'McpCollectorFailing',
    severity: 'warning',
    expr: `${sel(collectorSuccess, options)} == 0`,
    for: '5m',
    summary: 'The exporter cannot read {{ $labels.collector }} of {{ $labels.target }}',
    description:
      'The collector fails at each scrape. What it should tell of this target is missing, not zero.',
  },
];

const absenceAlerts = (options: RulesOptions): Alert[] => {
  const gone = <Label extends string>(
    series: Series<Label>,
    window: string,
    matchers: Matchers<Label>,
    labels: readonly string[] = ['target'],
  ): string =>
    `${by('count', labels, call('last_over_time', over(series, options, window, matchers)))}\nunless ${by('count', labels, sel(series, options, matchers))}`;
  // An exporter that has gone with its target was taken down, as with a pod, unless it was the last one.
  const atOneExporter = gone(sessionsRegistered, '1h', {}, ['job', 'instance', 'target']);
  return [
    {
      name: 'McpTargetGone',
      severity: 'critical',
      expr: `(\n${atOneExporter}\nand on (job, instance) ${up.name} == 1\n)
or on (target) (\n${gone(sessionsRegistered, '1h', {})}\n)`,
      for: '2m',
      summary: 'No probe of {{ $labels.target }} answers any more',
      description:
        'Within the last hour {{ $value }} session managers were seen there; now there is none. The server is down, or runs without its probe.',
    },
    {
      name: 'McpLedgerAbsent',
      severity: 'info',
      expr: gone(clientExpected, '30m', { bound: 'max' }),
      for: '2m',
      summary: 'The ledger of {{ $labels.target }} is missing',
      description:
        'A load ran against it within the last 30 minutes and is not scraped any more: its retention drift is unknown, not zero.',
    },
  ];
};

/** What is called by two names, or read too rarely, is not joined: no drift is computed, and no alert would tell. */
const driftUnknown = (options: RulesOptions): Alert => {
  const expected = sel(clientExpected, options, { bound: 'max' });
  return {
    name: 'McpDriftUnknown',
    severity: 'info',
    expr: `${by('count', ['target'], `${expected} and ${expected} offset ${windowsOf(options).rate}`)}
unless on (target) ${sel(names.retentionDrift, options)}
unless on (target) ${sel(names.unobserved, options)}`,
    for: '2m',
    summary: 'The ledger of {{ $labels.target }} is compared with nothing',
    description:
      'A load runs against it, and no exporter shows sessions of a target of this name, or both are scraped too rarely: its retention drift is unknown, not zero.',
  };
};

const probeAlerts = (options: RulesOptions): Alert[] => [
  {
    name: 'McpProbeUnsupported',
    severity: 'warning',
    expr: `${sel(probeSupported, options)} == 0`,
    for: '5m',
    summary: `The probe does not know the SDK in ${ON_WORKER}`,
    description: 'Its session counts are not to be trusted. Memory and restarts are still measured.',
  },
];
