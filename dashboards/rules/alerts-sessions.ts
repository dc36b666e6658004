/** Alerts about sessions. All but the two about the ledger work in production, where there is none. */
import {
  sessionExpirations,
  sessionIdleTimeout,
  sessionOldestIdle,
  sessionRegistrations,
  sessionRejections,
  sessionRemnants,
  sessionRemovals,
  sessionsRegistered,
  serverStartTime,
} from '../../src/metrics/catalogue.ts';
import { call, over, sel } from '../promql.ts';
import { lastingGrowth } from './growth.ts';
import * as names from './names.ts';
import { windowsOf, type RulesOptions } from './options.ts';
import type { Alert } from './alert.ts';

const ON_TARGET = '{{ $labels.build }} at {{ $labels.target }}';
const ON_MANAGER = `${ON_TARGET}, worker {{ $labels.worker }}, manager {{ $labels.manager }}`;

export const sessionAlerts = (options: RulesOptions): Alert[] => [
  ...ledgerAlerts(options),
  ...registryAlerts(options),
  idleTooLong(options),
  growth(options),
  ...capAlerts(options),
];

/** The last known drift counts for a quarter of an hour: a target that died with a leak has not mended it. */
const ledgerAlerts = (options: RulesOptions): Alert[] => {
  const lastKnown = call('last_over_time', over(names.retentionDrift, options, '15m'));
  return [
    {
      name: 'McpRetentionDrift',
      severity: 'critical',
      expr: `${lastKnown} > 0`,
      for: '2m',
      summary: `${ON_TARGET} keeps sessions that it should have let go of`,
      description:
        '{{ $value }} sessions are registered beyond what the ledger of the load allows. They hold memory until the server restarts.',
    },
    {
      name: 'McpSessionsLost',
      severity: 'critical',
      expr: `${lastKnown} < 0`,
      for: '2m',
      summary: `${ON_TARGET} dropped sessions that it should have kept`,
      description:
        'The registry is {{ $value }} sessions off what the ledger of the load demands: clients with live sessions are answered 404.',
    },
  ];
};

/** A terminated session is registered for an instant: as many as one second removes are no remnants. */
const registryAlerts = (options: RulesOptions): Alert[] => {
  const { rate } = windowsOf(options);
  return [
    {
      name: 'McpSessionIdentityBroken',
      severity: 'critical',
      expr: `${sel(names.identityDrift, options)} != 0`,
      for: '1m',
      summary: `The session counts of ${ON_MANAGER} contradict one another`,
      description:
        'The registry differs by {{ $value }} sessions from its own counters: entries came or went without its being counted.',
    },
    {
      name: 'McpSessionRemnants',
      severity: 'critical',
      expr: `${call('min_over_time', over(sessionRemnants, options, rate))} > ${call('rate', over(sessionRemovals, options, rate))} and ${sel(sessionRemnants, options)}`,
      for: '5m',
      summary: `Terminated sessions stay registered on ${ON_MANAGER}`,
      description:
        '{{ $value }} entries have a terminated transport and are still in the registry. No expiry ends them on affected builds.',
    },
  ];
};

const idleTooLong = (options: RulesOptions): Alert => ({
  name: 'McpSessionsIdleTooLong',
  severity: 'warning',
  expr: `${sel(sessionOldestIdle, options)} > 1.1 * ${sel(names.idleMax, options)} + 60`,
  for: '5m',
  summary: `Sessions outlive the idle policy on ${ON_MANAGER}`,
  description: 'The session that has been idle longest was last used {{ $value | humanizeDuration }} ago.',
});

/**
 * Judged over twice the idle timeout, on workers as old as that: in it, whatever was abandoned must have expired. Fewer
 * than arrivals × idle timeout may all be young, and their growth is one of users.
 */
const growth = (options: RulesOptions): Alert => {
  const { long, longSeconds } = windowsOf(options);
  const { total, inBothHalves } = lastingGrowth(sessionsRegistered, options);
  const arrivals = call('rate', over(sessionRegistrations, options, long));
  const age = `time() - ${sel(serverStartTime, options)} > ${String(longSeconds)}`;
  return {
    name: 'McpSessionsGrowWithoutExpiry',
    severity: 'warning',
    expr: `(
  ${total} / ${String(longSeconds / 60)} > 0.1
  and ${inBothHalves}
  and ${total} > ${call('increase', over(sessionExpirations, options, long))}
  and ${sel(sessionsRegistered, options)} > ${arrivals} * ${sel(names.idleMax, options)}
  and on (job, instance, ${serverStartTime.labels.join(', ')}) ${age}
) unless ${sel(sessionIdleTimeout, options)} > ${String(longSeconds / 2)}`,
    for: '10m',
    summary: `Registered sessions only grow on ${ON_MANAGER}`,
    description: `The registry has grown by {{ $value | humanize }} sessions a minute for ${long}. Fewer have expired, and more are registered than arrive within the idle timeout.`,
  };
};

/** A manager that is full swings about its cap, as places come free and are taken: neither alert may begin anew at each swing. */
const capAlerts = (options: RulesOptions): Alert[] => {
  const { skew, rate } = windowsOf(options);
  const use = sel(names.capUse, options);
  const mean = call('avg_over_time', over(names.capUse, options, rate));
  const most = call('max_over_time', over(names.capUse, options, skew));
  const refused = call('increase', over(sessionRejections, options, skew));
  const share = '{{ $value | humanizePercentage }} of the sessions that this manager may hold';
  return [
    {
      name: 'McpSessionCapNear',
      severity: 'warning',
      expr: `${mean} > 0.8 and ${use}`,
      for: '5m',
      summary: `Session cap nearly reached on ${ON_MANAGER}`,
      description: `${share} are registered, on average over ${rate}.`,
    },
    {
      name: 'McpSessionCapReached',
      severity: 'critical',
      expr: `(${most} >= 1 or ${most} and ${refused} > 0) and ${use}`,
      for: '2m',
      summary: `Session cap reached on ${ON_MANAGER}`,
      description: `Within ${skew} up to ${share} were registered, again and again: new clients of this worker are turned away, whatever room others have.`,
    },
    {
      name: 'McpSessionsRejected',
      severity: 'warning',
      expr: `${sel(names.rejectionShare, options)} > 0.01`,
      for: '5m',
      summary: `${ON_TARGET} turns clients away`,
      description:
        '{{ $value | humanizePercentage }} of the openings are refused because of the session cap.',
    },
  ];
};
