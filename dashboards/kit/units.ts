/** The catalogue's units in Grafana's words. */
import * as units from '@grafana/grafana-foundation-sdk/units';

interface Measured {
  readonly name: string;
  readonly unit: string;
}

/** Unit of the catalogue or of a rule → unit of a value, unit of its growth per second. */
const WORDS: Record<string, readonly [string, string]> = {
  '': [units.NoUnit, units.NoUnit],
  s: [units.Seconds, units.PercentUnit],
  bytes: [units.BytesIEC, units.BytesPerSecondIEC],
  sessions: [units.Short, 'suffix: sessions/s'],
  streams: [units.Short, 'suffix: streams/s'],
  openings: [units.Short, 'suffix: openings/s'],
  arrivals: [units.Short, 'suffix: arrivals/s'],
  requests: [units.Short, units.RequestsPerSecond],
  descriptors: [units.Short, 'suffix: descriptors/s'],
  'sessions/min': ['suffix: sessions/min', units.NoUnit],
  ratio: [units.PercentUnit, units.NoUnit],
  processes: [units.Short, 'suffix: processes/s'],
};

/** Grafana's unit of a metric's value. @throws where the catalogue has a unit that is not translated here */
export const unitOf = (metric: Measured): string => wordsOf(metric)[0];

/** Grafana's unit of a counter's rate per second. @throws as unitOf */
export const rateUnitOf = (metric: Measured): string => wordsOf(metric)[1];

function wordsOf({ name, unit }: Measured): readonly [string, string] {
  const words = WORDS[unit];
  if (words === undefined) throw new Error(`${name}: the unit "${unit}" has no translation in units.ts`);
  return words;
}
