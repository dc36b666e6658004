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
import * as names from './names.ts';
import { windowsOf, type RulesOptions } from './options.ts';

export const processAlerts = (options: RulesOptions): Alert[] => [
  memoryGrows(options),
  restarts(options),
  ...exporterAlerts(options),
  ...absenceAlerts(options),
  ...probeAlerts(options),
];

const ON_WORKER = 'worker {{ $labels.worker }} of {{ $labels.build }} at {{ $labels.target }}';

/** A fifth of what is resident and at least 32 MiB, within the long window; not while a worker still warms up. */
const memoryGrows = (options: RulesOptions): Alert => {
  const { long, longSeconds } = windowsOf(options);
  const within = (series: Series): string =>
    `${call('deriv', over(series, options, long))} * ${String(longSeconds)}`;
  const on = `on (job, instance, ${serverStartTime.labels.join(', ')})`;
  const noticeable = call('clamp_min', `0.2 * ${sel(serverResidentMemory, options)}`, 32 * 1024 * 1024);
  return {
    name: 'McpMemoryGrowsWithoutSessions',
    severity: 'warning',
    expr: `${within(serverResidentMemory)} > ${noticeable}
and ${on} abs(${within(names.workerRegistered)}) < 0.05 * ${sel(names.workerRegistered, options)} + 5
and ${on} time() - ${sel(serverStartTime, options)} > ${String(2 * longSeconds)}`,
    for: '10m',
    summary: `Memory of ${ON_WORKER} grows while its sessions do not`,
    description: `Resident memory has grown by {{ $value | humanize1024 }}B within ${long}. It is not held by registered sessions.`,
  };
};

/** More starts than one deployment explains: it starts each worker once. */
const restarts = (options: RulesOptions): Alert => {
  const starts = call('changes', over(names.latestStart, options, '30m'));
  const workers = by('count', names.latestStart.labels, sel(serverStartTime, options));
  return {
    name: 'McpServerRestarts',
    severity: 'warning',
    expr: `${starts} > (${workers} or ${starts} * 0 + 1)`,
    for: '0s',
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
  ): string =>
    `${by('count', ['target'], call('last_over_time', over(series, options, window, matchers)))}\nunless ${by('count', ['target'], sel(series, options, matchers))}`;
  return [
    {
      name: 'McpTargetGone',
      severity: 'critical',
      expr: gone(sessionsRegistered, '1h', {}),
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
