/** Whether what the other panels show can be believed: who answers, and who has fallen silent. */
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import * as units from '@grafana/grafana-foundation-sdk/units';
import {
  buildInfo,
  collectorDuration,
  collectorSuccess,
  probeSupported,
  serverStartTime,
  sessionsRegistered,
} from '../../src/metrics/catalogue.ts';
import { absentMapping, BROKEN, HEALTHY, mustBeZero } from '../kit/absent.ts';
import { lines, numbers, rows, states, type Panel } from '../kit/panel.ts';
import { unitOf } from '../kit/units.ts';
import { by, up } from '../promql.ts';
import { BUILD, chosen, chosenOver, WORKER, type Scope } from './scope.ts';

const answers: dashboard.ValueMapping = {
  type: dashboard.MappingType.ValueToText,
  options: {
    0: { text: 'fails', color: BROKEN, index: 0 },
    1: { text: 'answers', color: HEALTHY, index: 1 },
  },
};

/** `up` of those exporters only that have ever spoken of the chosen targets: there are other jobs in a Prometheus. */
const exporterUp = (scope: Scope): string =>
  `${chosen(scope, up)} and on (job, instance) ${chosenLately(scope)}`;

const chosenLately = (scope: Scope): string => `last_over_time(${chosenOver(scope, collectorSuccess, '1d')})`;

export const workersNow = (scope: Scope): Panel =>
  numbers(
    {
      title: 'Workers counted now',
      says: 'Worker processes whose registry is being counted. Fewer than there should be: the sums beside it are too small.',
      unit: units.Short,
      width: 4,
    },
    [{ expr: `count(${by('count', WORKER, chosen(scope, sessionsRegistered))})`, legend: 'workers' }],
  );

export const silentNow = (scope: Scope): Panel =>
  numbers(
    {
      title: 'Builds fallen silent',
      says: 'Builds that were counted within the time shown and are not counted any more. What has fallen silent has not healed.',
      unit: units.Short,
      width: 4,
    },
    [
      {
        expr:
          `count(${by('count', BUILD, `last_over_time(${chosenOver(scope, sessionsRegistered, '$__range')})`)})` +
          ` - (count(${by('count', BUILD, chosen(scope, sessionsRegistered))}) or vector(0))`,
        legend: 'silent',
      },
    ],
  ).thresholds(mustBeZero());

export const collectors = (scope: Scope): Panel =>
  states(
    {
      title: 'Who answers',
      says: 'Whether Prometheus reaches each exporter, whether each of its collectors reads its target, and whether the probe knows the SDK. A gap is silence, not health.',
      unit: units.NoUnit,
      width: 12,
      height: 9,
    },
    [
      { expr: exporterUp(scope), legend: 'exporter {{job}} {{instance}}' },
      {
        expr: by('min', ['target', 'collector'], chosen(scope, collectorSuccess)),
        legend: '{{target}} {{collector}}',
      },
      {
        expr: by('min', BUILD, chosen(scope, probeSupported)),
        legend: '{{target}} {{build}} probe knows the SDK',
      },
    ],
  ).mappings([answers, absentMapping]);

export const collectorTime = (scope: Scope): Panel =>
  lines(
    {
      title: 'Time a scrape takes',
      says: 'How long each collector took to read its target. It does not depend on how many sessions there are; a rise is a server too busy to answer its probe.',
      unit: unitOf(collectorDuration),
      width: 12,
      height: 9,
    },
    [
      {
        expr: by('max', ['target', 'collector'], chosen(scope, collectorDuration)),
        legend: '{{target}} {{collector}}',
      },
    ],
  ).axisSoftMin(0);

export const uptime = (scope: Scope): Panel =>
  lines(
    {
      title: 'Age of workers',
      says: 'How long each worker process has run. A fall to 0 is a restart: its registry began anew, which is no healing.',
      unit: unitOf(serverStartTime),
      width: 12,
    },
    [
      {
        expr: `time() - ${by('max', WORKER, chosen(scope, serverStartTime))}`,
        legend: '{{target}} {{build}} worker {{worker}}',
      },
    ],
  ).axisSoftMin(0);

export const versions = (scope: Scope): Panel =>
  rows(
    {
      title: 'What runs',
      says: 'Workers that are counted now, by SDK and version.',
      unit: units.Short,
      width: 12,
    },
    {
      expr: by('count', [...BUILD, 'sdk', 'version'], chosen(scope, buildInfo)),
      legend: 'workers',
    },
  );
