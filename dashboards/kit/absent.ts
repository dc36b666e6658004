/**
 * What absence of data looks like: grey, and said in words. A stat whose query fails or is empty takes the colour of
 * its lowest threshold, so the lowest is never a healthy one.
 */
import {
  ThresholdsConfigBuilder,
  type Threshold,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';

export const NO_DATA = 'no data';
export const NEUTRAL = 'text';
export const HEALTHY = 'green';
export const WORRYING = 'orange';
export const BROKEN = 'red';

/** Null and NaN say so themselves, whatever the thresholds are. */
export const absentMapping: ValueMapping = {
  type: dashboard.MappingType.SpecialValue,
  options: {
    match: dashboard.SpecialValueMatch.NullAndNan,
    result: { text: NO_DATA, color: NEUTRAL, index: 99 },
  },
};

/** Colours from given values upwards; below the first, and without a value, neutral. */
export const thresholds = (...steps: readonly (readonly [number, string])[]): ThresholdsConfigBuilder =>
  new ThresholdsConfigBuilder()
    .mode(dashboard.ThresholdsMode.Absolute)
    .steps([
      { value: null, color: NEUTRAL },
      ...steps.map(([value, color]): Threshold => ({ value, color })),
    ]);

/** Healthy at 0, broken from the smallest thing above it. */
export const mustBeZero = (): ThresholdsConfigBuilder => thresholds([0, HEALTHY], [1, BROKEN]);

/** No judgement: one neutral colour. */
export const unjudged = (): ThresholdsConfigBuilder => thresholds();
