/** Growth that lasts, told from a single step and from what comes and goes. */
import { call, duration, over, type Series } from '../promql.ts';
import { windowsOf, type RulesOptions } from './options.ts';

export interface LastingGrowth {
  /** By how much the series has grown within the long window: a difference, in the series' own unit. */
  readonly total: string;
  /** A condition: each half of the window has at least a quarter of it. */
  readonly inBothHalves: string;
}

/**
 * From floor to floor, each the least of several minutes, so that a peak is no growth. Not by regression: that makes
 * a step in mid-window half as large again as it is, and a slope of what never went on.
 */
export const lastingGrowth = (series: Series, options: RulesOptions): LastingGrowth => {
  const { trend, long, longSeconds } = windowsOf(options);
  const floorOf = (offset: string): string => call('min_over_time', over(series, options, trend) + offset);
  const floor = floorOf('');
  const halfAgo = floorOf(` offset ${duration(longSeconds / 2)}`);
  const longAgo = floorOf(` offset ${long}`);
  const total = `(${floor} - ${longAgo})`;
  return {
    total,
    inBothHalves: `(${floor} - ${halfAgo}) > 0.25 * ${total}
and (${halfAgo} - ${longAgo}) > 0.25 * ${total}`,
  };
};
