/** The load side's ledger: what was opened and how it ended, as the clients were told. */
import {
  clientAbandoned,
  clientArrivalsLate,
  clientDeleted,
  clientExpected,
  clientOpened,
  clientRefused,
  clientRequestDuration,
  clientRequests,
  clientUncertain,
  sessionRegistrations,
  sessionsRegistered,
} from '../../src/metrics/catalogue.ts';
import type { Metric } from '../../src/metrics/metric.ts';
import { thresholds, HEALTHY, WORRYING } from '../kit/absent.ts';
import { lines, numbers, type Panel } from '../kit/panel.ts';
import { rateUnitOf, unitOf } from '../kit/units.ts';
import { bucketsOf, by } from '../promql.ts';
import { retentionDrift } from '../rules/names.ts';
import { BUILD, chosen, rate, type Scope } from './scope.ts';

const NAME = '{{target}} {{build}}';

const total =
  (metric: Metric, title: string, says: string) =>
  (scope: Scope): Panel =>
    numbers({ title, says, unit: unitOf(metric), width: 6 }, [
      { expr: `sum(${chosen(scope, metric)})`, legend: title.toLowerCase() },
    ]);

export const openedTotal = total(clientOpened, 'Opened', 'Sessions that the load opened since it began.');
export const deletedTotal = total(
  clientDeleted,
  'Deleted',
  'Sessions whose DELETE was accepted, or answered that they were gone: none of them may be registered.',
);
export const abandonedTotal = total(
  clientAbandoned,
  'Abandoned',
  'Sessions that the load left without DELETE: each may stay for the idle timeout, and no longer.',
);

export const uncertainTotal = (scope: Scope): Panel =>
  numbers(
    {
      title: 'Uncertain',
      says: 'Openings and deletions whose connection broke before the answer. They widen the expected interval; many of them, and the drift says little.',
      unit: unitOf(clientUncertain),
      width: 6,
    },
    [{ expr: `sum(${chosen(scope, clientUncertain)})`, legend: 'uncertain' }],
  ).thresholds(thresholds([0, HEALTHY], [1, WORRYING]));

export const openedAndEnded = (scope: Scope): Panel =>
  lines(
    {
      title: 'Opened and ended',
      says: 'Sessions opened, deleted and abandoned per second, by target. The same schedule runs against every target: lines that differ mean a target that does not keep up.',
      unit: rateUnitOf(clientOpened),
      width: 12,
    },
    [
      { expr: rate(scope, clientOpened, BUILD), legend: `${NAME} opened` },
      { expr: rate(scope, clientDeleted, BUILD), legend: `${NAME} deleted` },
      { expr: rate(scope, clientAbandoned, BUILD), legend: `${NAME} abandoned` },
    ],
  ).axisSoftMin(0);

export const byCase = (scope: Scope): Panel =>
  lines(
    {
      title: 'Opened by case',
      says: 'Sessions opened per second in each case of the mix.',
      unit: rateUnitOf(clientOpened),
      width: 12,
    },
    [{ expr: rate(scope, clientOpened, [...BUILD, 'case']), legend: `${NAME} {{case}}` }],
  ).axisSoftMin(0);

export const expectedAgainstRegistered = (scope: Scope): Panel =>
  lines(
    {
      title: 'Expected against registered',
      says: 'The interval that the ledger allows now, and what the server has registered. The interval starts anew when the target does.',
      unit: unitOf(clientExpected),
      width: 12,
    },
    [
      {
        expr: by('sum', [...BUILD, 'bound'], chosen(scope, clientExpected)),
        legend: `${NAME} expected {{bound}}`,
      },
      { expr: by('sum', BUILD, chosen(scope, sessionsRegistered)), legend: `${NAME} registered` },
    ],
  )
    .axisSoftMin(0)
    .overrideByRegexp('/expected/', [{ id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 6] } }]);

export const drift = (scope: Scope): Panel =>
  lines(
    {
      title: 'Retention drift',
      says: 'Registered above (positive) or below (negative) the interval; 0 inside. Absent, not 0, while one side is missing.',
      unit: unitOf(retentionDrift),
      width: 12,
    },
    [{ expr: chosen(scope, retentionDrift), legend: NAME }],
  ).axisCenteredZero(true);

export const openedAgainstRegistrations = (scope: Scope): Panel =>
  lines(
    {
      title: 'Registered without being opened',
      says:
        'Registrations by the server minus openings told to the clients, per second. Positive: refused openings leave sessions behind, ' +
        'or someone else opens sessions there. Negative: the server does not count all that it serves.',
      unit: rateUnitOf(sessionRegistrations),
      width: 12,
    },
    [
      {
        expr: `${rate(scope, sessionRegistrations, ['target'])} - ${rate(scope, clientOpened, ['target'])}`,
        legend: '{{target}}',
      },
    ],
  ).axisCenteredZero(true);

export const refused = (scope: Scope): Panel =>
  lines(
    {
      title: 'Refused openings',
      says: 'Openings that the server refused per second, by reason: over the cap (503), or rejected as they should be.',
      unit: rateUnitOf(clientRefused),
      width: 12,
    },
    [{ expr: rate(scope, clientRefused, [...BUILD, 'reason']), legend: `${NAME} {{reason}}` }],
  ).axisSoftMin(0);

export const requestsByStatus = (scope: Scope): Panel =>
  lines(
    {
      title: 'Requests by status',
      says: 'Requests of the load side per second, by HTTP method and status; 0 where the connection broke. 404 on many: sessions expired, or several workers without affinity.',
      unit: rateUnitOf(clientRequests),
      width: 8,
    },
    [
      {
        expr: rate(scope, clientRequests, ['target', 'method', 'status']),
        legend: '{{target}} {{method}} {{status}}',
      },
    ],
  ).axisSoftMin(0);

export const lateArrivals = (scope: Scope): Panel =>
  lines(
    {
      title: 'Arrivals left out',
      says: 'Arrivals per second that could not be played when they were due: all places taken (full), or the load itself late (behind). Above 0, the load is less than what was asked for.',
      unit: rateUnitOf(clientArrivalsLate),
      width: 8,
    },
    [{ expr: rate(scope, clientArrivalsLate, [...BUILD, 'reason']), legend: `${NAME} {{reason}}` }],
  ).axisSoftMin(0);

export const latency = (scope: Scope): Panel =>
  lines(
    {
      title: 'Time to the answer',
      says: 'Median, 95th and 99th percentile of the time from a request to its answer. Of mcp-retention load; k6 has its durations under its own names.',
      unit: unitOf(clientRequestDuration),
      width: 8,
    },
    [0.5, 0.95, 0.99].map((share) => ({
      expr: `histogram_quantile(${share}, ${rate(scope, bucketsOf(clientRequestDuration), [...BUILD, 'le'])})`,
      legend: `${NAME} p${share * 100}`,
    })),
  ).axisSoftMin(0);
