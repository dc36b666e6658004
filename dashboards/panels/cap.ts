/** How near the caps are. The cap is per session manager: the fullest one counts, not the sum. */
import { BROKEN, HEALTHY, thresholds, WORRYING } from '../kit/absent.ts';
import { lines, numbers, type Panel } from '../kit/panel.ts';
import { unitOf } from '../kit/units.ts';
import { by } from '../promql.ts';
import {
  capUse,
  capUseMax,
  memoryAtCap,
  memoryAtCapTogether,
  timeToCap,
  timeToCapMin,
} from '../rules/names.ts';
import { BUILD, chosen, WORKER, type Scope } from './scope.ts';

const NAME = '{{target}} {{build}}';

export const capUseNow = (scope: Scope): Panel =>
  numbers(
    {
      title: 'Cap use now',
      says: 'Share of its cap that the fullest session manager uses. No data: none of the chosen has a cap, so that memory is the only bound.',
      unit: unitOf(capUse),
      width: 4,
    },
    [{ expr: `max(${chosen(scope, capUse)})`, legend: 'fullest manager' }],
  ).thresholds(thresholds([0, HEALTHY], [0.8, WORRYING], [1, BROKEN]));

export const capUseOverTime = (scope: Scope): Panel =>
  lines(
    {
      title: 'Cap use',
      says: 'Share of its cap that the fullest manager of each build uses (solid), and each manager’s own. At 100 % every further opening is refused.',
      unit: unitOf(capUse),
      width: 8,
    },
    [
      { expr: chosen(scope, capUseMax), legend: `${NAME} fullest` },
      { expr: chosen(scope, capUse), legend: `${NAME} worker {{worker}}/{{manager}}` },
    ],
  )
    .min(0)
    .overrideByRegexp('/worker/', [{ id: 'custom.lineStyle', value: { fill: 'dot', dash: [2, 6] } }]);

export const timeToCapOverTime = (scope: Scope): Panel =>
  lines(
    {
      title: 'Time to cap',
      says: 'When the first manager of each build is full if it grows as it does now. No line: it does not grow, or there is no cap.',
      unit: unitOf(timeToCap),
      width: 8,
    },
    [
      { expr: chosen(scope, timeToCapMin), legend: `${NAME} first` },
      { expr: by('min', WORKER, chosen(scope, timeToCap)), legend: `${NAME} worker {{worker}}` },
    ],
  )
    .axisSoftMin(0)
    .overrideByRegexp('/worker/', [{ id: 'custom.lineStyle', value: { fill: 'dot', dash: [2, 6] } }]);

export const memoryAtCapOverTime = (scope: Scope): Panel =>
  lines(
    {
      title: 'Memory at the cap, of the limit',
      says:
        'Memory that all workers behind one exporter would take together with every registry at its cap, as a share of the memory limit ' +
        'that they share (solid). Above 100 % workers are killed before they refuse. Each worker’s own share (dotted) bounds only one that is ' +
        'alone in its control group. Pages that forked workers share count once for each.',
      unit: unitOf(memoryAtCapTogether),
      width: 8,
    },
    [
      {
        expr: by('max', memoryAtCapTogether.labels, chosen(scope, memoryAtCapTogether)),
        legend: '{{target}} {{instance}} together',
      },
      {
        expr: by('max', [...BUILD, 'worker'], chosen(scope, memoryAtCap)),
        legend: `${NAME} worker {{worker}}`,
      },
    ],
  )
    .min(0)
    .overrideByRegexp('/worker/', [{ id: 'custom.lineStyle', value: { fill: 'dot', dash: [2, 6] } }]);
