/**
 * k6's series under the catalogue's names. k6's remote write puts `k6_` before every name and `_total` after every
 * counter's (https://grafana.com/docs/k6/latest/results-output/real-time/prometheus-remote-write/), so a counter that
 * a script already calls `…_total` comes out with it twice; both are taken. Trends become gauges of percentiles,
 * which have no counterpart in the catalogue and stay under k6's own names.
 */
import {
  clientAbandoned,
  clientDeleted,
  clientExpected,
  clientOpened,
  clientRefused,
  clientRequests,
  clientUncertain,
} from '../../src/metrics/catalogue.ts';
import type { Metric } from '../../src/metrics/metric.ts';
import { by, call, duration, over, sel } from '../promql.ts';
import { latestStart } from './names.ts';
import { idleSecondsOf, windowsOf, type RulesOptions } from './options.ts';
import { record, type RecordingRule } from './rule.ts';

const COUNTERS = [
  clientOpened,
  clientDeleted,
  clientAbandoned,
  clientRefused,
  clientUncertain,
  clientRequests,
] as const;

/** The names under which k6's remote write may deliver a counter of the catalogue. */
export const k6Names = (counter: Metric): readonly [string, string] => [
  `k6_${counter.name}`,
  `k6_${counter.name}_total`,
];

/** Summed over k6's own tags (scenario, url, …) and over the instances of a distributed run. */
const normalised = (counter: Metric): string =>
  by('sum', counter.labels, `{__name__=~${JSON.stringify(k6Names(counter).join('|'))}}`);

export const k6Rules = (options: RulesOptions): RecordingRule[] => [
  ...COUNTERS.map((counter) => record(counter, normalised(counter))),
  record(clientExpected, expected(options, '+'), { bound: 'max' }),
  record(clientExpected, expected(options, '-'), { bound: 'min' }),
];

/**
 * k6 has no ledger, so what is expected is computed from the normalised counters, which are those without a `job`:
 * opened, less deleted, less those abandoned for longer than the idle timeout, give or take the uncertain. k6 does
 * not count anew when the target restarts; hence nothing is expected for as long as a restart lies in the window.
 */
const expected = (options: RulesOptions, uncertain: '+' | '-'): string => {
  const ofK6 = (counter: Metric, offset = ''): string =>
    sel(counter, { ...options, loadSelector: '' }, { job: '' }) + offset;
  const orNone = (counter: string): string => `(${counter} or ${ofK6(clientOpened)} * 0)`;
  const overdue = ofK6(clientAbandoned, ` offset ${duration(idleSecondsOf(options))}`);
  return `(
  ${ofK6(clientOpened)}
  - ${orNone(ofK6(clientDeleted))}
  - ${orNone(overdue)}
  ${uncertain} ${orNone(ofK6(clientUncertain))}
) unless on (target) ${call('changes', over(latestStart, options, windowsOf(options).long))} > 0`;
};
