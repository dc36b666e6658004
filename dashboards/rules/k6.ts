/**
 * k6's series under the catalogue's names, from those under which its remote write delivers them (src/metrics/k6.ts).
 * Trends become gauges of percentiles, which have no counterpart in the catalogue and stay under k6's own names.
 */
import {
  clientAbandoned,
  clientDeleted,
  clientExpected,
  clientOpened,
  clientUncertain,
} from '../../src/metrics/catalogue.ts';
import { K6_COUNTERS, k6Names } from '../../src/metrics/k6.ts';
import type { Metric } from '../../src/metrics/metric.ts';
import { by, call, duration, over, sel } from '../promql.ts';
import { latestStart } from './names.ts';
import { idleSecondsOf, windowsOf, type RulesOptions } from './options.ts';
import { record, type RecordingRule } from './rule.ts';

/**
 * Summed over k6's own tags (scenario, url, …) and over the instances of a distributed run. k6 writes what has changed
 * alone: a counter that rests is not gone, so its last value holds for the long window, and with it the run's account.
 */
const summed = (counter: Metric, options: RulesOptions): string => {
  const selector = `{__name__=~${JSON.stringify(k6Names(counter).join('|'))}}`;
  return by('sum', counter.labels, call('last_over_time', `${selector}[${windowsOf(options).long}]`));
};

/** k6 writes a counter with its first event: until then it is 0 for every run that has opened something. */
const normalised = (counter: Metric, options: RulesOptions): string =>
  counter.labels.length > clientOpened.labels.length || counter.name === clientOpened.name
    ? summed(counter, options)
    : `${summed(counter, options)}\nor ${summed(clientOpened, options)} * 0`;

export const k6Rules = (options: RulesOptions): RecordingRule[] => [
  ...K6_COUNTERS.map((counter) => record(counter, normalised(counter, options))),
  record(clientExpected, expected(options, '+'), { bound: 'max' }),
  record(clientExpected, expected(options, '-'), { bound: 'min' }),
];

/**
 * k6 has no ledger, so what is expected is computed from the normalised counters, which are those without a `job`:
 * opened, less deleted, less those abandoned for longer than the idle timeout, give or take the uncertain. What
 * scripts abandon and delete in their clean-up counts once. k6 does not count anew when the target restarts; hence
 * nothing is expected for as long as a restart lies in the window.
 */
const expected = (options: RulesOptions, uncertain: '+' | '-'): string => {
  const ofK6 = (counter: Metric, offset = ''): string =>
    sel(counter, { ...options, loadSelector: '' }, { job: '' }) + offset;
  const [opened, deleted] = [ofK6(clientOpened), ofK6(clientDeleted)];
  const abandoned = ofK6(clientAbandoned);
  const overdue = `(${ofK6(clientAbandoned, ` offset ${duration(idleSecondsOf(options))}`)} or ${opened} * 0)`;
  const both = call('clamp_min', `${abandoned} + ${deleted} - ${opened}`, 0);
  const there = `
  ${opened}
  - ${deleted}
  - ${call('clamp_min', `${overdue} - ${both}`, 0)}
  ${uncertain} ${ofK6(clientUncertain)}
`;
  return `${call('clamp_min', there, 0)} unless on (target) ${call('changes', over(latestStart, options, windowsOf(options).long))} > 0`;
};
