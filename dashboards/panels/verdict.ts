/** What is wrong, by build: codes that Grafana puts into words and colours. */
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import { BigValueColorMode } from '@grafana/grafana-foundation-sdk/common';
import * as units from '@grafana/grafana-foundation-sdk/units';
import {
  probeSupported,
  sessionOldestIdle,
  sessionRemnants,
  sessionsRegistered,
} from '../../src/metrics/catalogue.ts';
import { absentMapping, BROKEN, HEALTHY, NEUTRAL, thresholds, WORRYING } from '../kit/absent.ts';
import { numbers, states, type Panel, type Said } from '../kit/panel.ts';
import { by, matching, sel, type Series } from '../promql.ts';
import { capUseMax, identityDrift, idleMax, retentionDrift, unobserved } from '../rules/names.ts';
import { windowsOf } from '../rules/options.ts';
import { BUILD, chosen, chosenOver, type Scope } from './scope.ts';

/** A state of a build: the first that applies is shown. */
interface State {
  readonly code: number;
  readonly text: string;
  readonly color: string;
  /** Series by target and build, there where the state applies. */
  readonly when: (scope: Scope) => string;
}

const max = (expression: string): string => by('max', BUILD, expression);

/**
 * Where a value has been beyond a bound for longer than two scrapes are apart, and is still being measured: what is
 * there for an instant only is no state, and what has fallen silent has none.
 */
const lasting = (scope: Scope, series: Series, extreme: 'min' | 'max', beyond: string): string =>
  max(
    `${extreme}_over_time(${chosenOver(scope, series, windowsOf(scope).skew)}) ${beyond} and ${chosen(scope, series)}`,
  );

const STATES: readonly State[] = [
  {
    code: 8,
    text: 'not measured',
    color: NEUTRAL,
    when: (scope) => max(`${chosen(scope, probeSupported)} == 0`),
  },
  {
    code: 7,
    text: 'partly unobserved',
    color: NEUTRAL,
    when: (scope) =>
      `${max(chosen(scope, sessionsRegistered))} and on (target) ${chosen(scope, unobserved)} == 1`,
  },
  {
    code: 6,
    text: 'counts disagree',
    color: 'purple',
    when: (scope) => max(`${chosen(scope, identityDrift)} != 0`),
  },
  {
    code: 5,
    text: 'keeps terminated sessions',
    color: BROKEN,
    when: (scope) => lasting(scope, sessionRemnants, 'min', '> 0'),
  },
  {
    code: 4,
    text: 'keeps idle sessions',
    color: BROKEN,
    // A tenth is left to the server's own clock: expiry is checked at intervals.
    when: (scope) => max(`${chosen(scope, sessionOldestIdle)} > 1.1 * ${chosen(scope, idleMax)}`),
  },
  {
    code: 3,
    text: 'keeps more than the ledger allows',
    color: BROKEN,
    when: (scope) => lasting(scope, retentionDrift, 'min', '> 0'),
  },
  {
    code: 2,
    text: 'drops live sessions',
    color: BROKEN,
    when: (scope) => lasting(scope, retentionDrift, 'max', '< 0'),
  },
  {
    code: 1,
    text: 'at its cap',
    color: WORRYING,
    when: (scope) => max(`${chosen(scope, capUseMax)} >= 1`),
  },
  { code: 0, text: 'holds', color: HEALTHY, when: (scope) => max(chosen(scope, sessionsRegistered)) },
];

/** Code by target and build; nothing where nothing was measured. */
export const verdictOf = (scope: Scope): string =>
  STATES.map(({ code, when }) => `(0 * (${when(scope)}) + ${code})`).join('\nor ');

const mapping: dashboard.ValueMapping = {
  type: dashboard.MappingType.ValueToText,
  options: Object.fromEntries(
    STATES.map(({ code, text, color }, index) => [String(code), { text, color, index }]),
  ),
};

export const VERDICT_SAYS =
  'The first that applies: the probe does not know this SDK (not measured); a worker or exporter cannot be read (partly unobserved); ' +
  'counters and registry disagree; terminated sessions stay registered; a session is idle for longer than the policy allows; ' +
  'more, or fewer, are registered than the load side’s ledger allows (only where there is one); a manager is full. ' +
  'A gap means that nothing was measured then, which is no good news.';

/** The lowest colour is neutral, and the words come from the codes. */
export const judged = <P extends ReturnType<typeof numbers> | ReturnType<typeof states>>(panel: P): P => {
  panel.mappings([mapping, absentMapping]);
  panel.thresholds(thresholds());
  return panel;
};

const said = (title: string, width: number, height: number): Said => ({
  title,
  says: VERDICT_SAYS,
  unit: units.NoUnit,
  width,
  height,
});

export const verdictNow = (scope: Scope): Panel =>
  judged(
    numbers(said('Verdict now', 24, 5), [{ expr: verdictOf(scope), legend: '{{target}} {{build}}' }]),
  ).colorMode(BigValueColorMode.Background);

export const verdictOverTime = (scope: Scope): Panel =>
  judged(
    states(said('Verdict per build', 24, 7), [{ expr: verdictOf(scope), legend: '{{target}} {{build}}' }]),
  );

/** Written by Prometheus itself for each alert that waits or fires; it bears the alert's own labels. */
const ALERTS = { name: 'ALERTS', labels: ['alertname', 'alertstate', 'severity'] as const };
const EVERYWHERE = { selector: '', loadSelector: '' };

export const alerts = (): Panel =>
  states(
    {
      title: 'Alerts',
      says:
        'Alerts of the rules that came with this dashboard: waiting (their condition holds, not for long enough yet) and firing. ' +
        'Of everything that is watched, whatever is chosen above. The runbooks have a section for each. Nothing here is good news only ' +
        'where the rules are loaded and someone answers: see the last row.',
      unit: units.NoUnit,
      width: 24,
      height: 7,
    },
    ['pending', 'firing'].map((alertstate, index) => ({
      expr: `max by (alertname, target, worker) (${sel(ALERTS, EVERYWHERE, { alertname: matching('Mcp.+'), alertstate })}) * ${index + 1}`,
      legend: `{{alertname}} {{target}} {{worker}} ${alertstate}`,
    })),
  ).mappings([
    {
      type: dashboard.MappingType.ValueToText,
      options: {
        1: { text: 'waiting', color: WORRYING, index: 0 },
        2: { text: 'firing', color: BROKEN, index: 1 },
      },
    },
    absentMapping,
  ]);
