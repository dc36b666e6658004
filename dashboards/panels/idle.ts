/** How long sessions have been idle, and what idle sessions become of. */
import {
  sessionDuration,
  sessionIdleTimeout,
  sessionOldestIdle,
  sessionsIdle,
} from '../../src/metrics/catalogue.ts';
import { lines, numbers, type Panel } from '../kit/panel.ts';
import { thresholds, BROKEN, HEALTHY } from '../kit/absent.ts';
import { unitOf } from '../kit/units.ts';
import * as units from '@grafana/grafana-foundation-sdk/units';
import { bucketsOf, by } from '../promql.ts';
import { idleMax } from '../rules/names.ts';
import { BUILD, chosen, rate, type Scope } from './scope.ts';

const NAME = '{{target}} {{build}}';

export const oldestIdleNow = (scope: Scope): Panel =>
  numbers(
    {
      title: 'Oldest idle by policy',
      says: 'Idle time of the session that has been idle longest, as a share of what the policy allows. Above 110 % something is kept that should be gone.',
      unit: units.PercentUnit,
      width: 4,
    },
    [{ expr: `max(${chosen(scope, sessionOldestIdle)} / ${chosen(scope, idleMax)})`, legend: 'oldest idle' }],
  ).thresholds(thresholds([0, HEALTHY], [1.1, BROKEN]));

export const oldestIdle = (scope: Scope): Panel =>
  lines(
    {
      title: 'Oldest idle session',
      says:
        'Idle time of the session that has been idle longest, by build, with the policy and the server’s own idle timeout. ' +
        'A line that rises with the clock past the policy means that nothing expires. A retained session never enters a histogram of ended ones; here it shows.',
      unit: unitOf(sessionOldestIdle),
      width: 12,
    },
    [
      { expr: by('max', BUILD, chosen(scope, sessionOldestIdle)), legend: NAME },
      { expr: by('max', BUILD, chosen(scope, idleMax)), legend: `${NAME} policy` },
      { expr: by('max', BUILD, chosen(scope, sessionIdleTimeout)), legend: `${NAME} own timeout` },
    ],
  )
    .axisSoftMin(0)
    .overrideByRegexp('/policy|own timeout/', [
      { id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 6] } },
    ]);

export const idleOlderThan = (scope: Scope): Panel =>
  lines(
    {
      title: 'Idle for longer than …',
      says: 'Registered sessions that have been idle for longer than so many seconds, by build. Each line contains those of the higher ages.',
      unit: unitOf(sessionsIdle),
      width: 12,
    },
    [
      {
        expr: by('sum', [...BUILD, 'older_than'], chosen(scope, sessionsIdle)),
        legend: `${NAME} > {{older_than}} s`,
      },
    ],
  ).axisSoftMin(0);

export const endedLifetimes = (scope: Scope): Panel =>
  lines(
    {
      title: 'Lifetimes of ended sessions',
      says: 'Median and 95th percentile of the lifetimes of sessions that ended. Sessions that never end are not in it: see the idle times.',
      unit: unitOf(sessionDuration),
      width: 12,
    },
    [0.5, 0.95].map((share) => ({
      expr: `histogram_quantile(${share}, ${rate(scope, bucketsOf(sessionDuration), [...BUILD, 'le'])})`,
      legend: `${NAME} p${share * 100}`,
    })),
  ).axisSoftMin(0);
