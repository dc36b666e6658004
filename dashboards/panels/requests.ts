/** Completed requests: the third series, in a row of its own. */
import * as units from '@grafana/grafana-foundation-sdk/units';
import { requestsCompleted, sessionRegistrations } from '../../src/metrics/catalogue.ts';
import { lines, type Panel } from '../kit/panel.ts';
import { rateUnitOf } from '../kit/units.ts';
import { BUILD, rate, type Scope } from './scope.ts';

const NAME = '{{target}} {{build}}';

export const completedRequests = (scope: Scope): Panel =>
  lines(
    {
      title: 'Completed requests',
      says: 'HTTP requests per second that the session managers have finished with, refused ones included. A server can be busy and green here while it keeps every session.',
      unit: rateUnitOf(requestsCompleted),
      width: 12,
    },
    [{ expr: rate(scope, requestsCompleted, BUILD), legend: NAME }],
  ).axisSoftMin(0);

export const requestsPerSession = (scope: Scope): Panel =>
  lines(
    {
      title: 'Requests per session opened',
      says: 'Completed requests per registration. It falls towards 1 when clients open a session for each request, or a health check opens them.',
      unit: units.Short,
      width: 12,
    },
    [
      {
        expr: `${rate(scope, requestsCompleted, BUILD)} / (${rate(scope, sessionRegistrations, BUILD)} > 0)`,
        legend: NAME,
      },
    ],
  ).axisSoftMin(0);
