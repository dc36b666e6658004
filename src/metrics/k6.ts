/**
 * The names under which k6's remote write delivers the catalogue's counters. It puts `k6_` before every name and
 * `_total` after every counter's (https://grafana.com/docs/k6/latest/results-output/real-time/prometheus-remote-write/),
 * so a counter that a script already calls `…_total` comes out with it twice; both are taken.
 */
import {
  clientAbandoned,
  clientDeleted,
  clientOpened,
  clientRefused,
  clientRequests,
  clientUncertain,
  partsBegun,
  partsFinished,
} from './catalogue.ts';
import type { Metric } from './metric.ts';

/** What k6 counts. It has no ledger, so what is expected is computed from these. */
export const K6_COUNTERS = [
  clientOpened,
  clientDeleted,
  clientAbandoned,
  clientRefused,
  clientUncertain,
  clientRequests,
] as const;

/** Whether the load was played to its end: as many parts finished as begun. */
export const K6_PARTS = [partsBegun, partsFinished] as const;

export const k6Names = (counter: Metric): readonly [string, string] => [
  `k6_${counter.name}`,
  `k6_${counter.name}_total`,
];
