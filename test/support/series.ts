/** Series made by hand, for what draws them. */
import type { ArmSeries } from '../../src/verdict/series.ts';

const SAMPLES = 61;

/** Two seconds of load of 20 sessions a second, of which `kept` a second stay, and four to settle and after. */
export function seriesOf(build: string, id: string, kept = 0, fields: Partial<ArmSeries> = {}): ArmSeries {
  const seconds = Array.from({ length: SAMPLES }, (_, i) => i / 10);
  const loaded = seconds.map((at) => Math.min(at, 2));
  return {
    build,
    case: id,
    seconds,
    registered: loaded.map((at, i) => Math.round(at * kept) + (i < 20 ? 4 : 0)),
    expectedMin: seconds.map(() => 0),
    expectedMax: seconds.map((at) => (at < 2 ? 8 : 0)),
    identityDrift: seconds.map(() => 0),
    memoryMib: loaded.map((at) => 54 + at * (1 + kept / 20)),
    requests: loaded.map((at) => Math.round(at * 80)),
    phases: [
      { phase: 'warm-up', from: 0, to: 0.5 },
      { phase: 'load', from: 0.5, to: 2 },
      { phase: 'settle', from: 2, to: 3.5 },
      { phase: 'after', from: 3.5, to: 6 },
    ],
    restarts: [],
    samples: SAMPLES,
    note: null,
    ...fields,
  };
}
