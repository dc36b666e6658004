import type { Evidence } from './evidence.ts';
import type { MemoryReport } from './schema.ts';
import { robustSlope, type Estimate, type Point } from './statistics.ts';

const KIB = 1024;

/** Resident memory beside the sessions played so far: evidence, never a verdict. */
export function memoryOf(evidence: Evidence): MemoryReport {
  const read = evidence.events.samples.flatMap((s) => (s.memory ? [{ t: s.t, ...s.memory }] : []));
  const kibPerSession = slopeOf(evidence);
  const limitBytes = read.findLast((sample) => sample.limitBytes !== null)?.limitBytes ?? null;
  const limit = evidence.sessionLimit ?? null;
  return {
    startBytes: read[0]?.rssBytes ?? null,
    endBytes: read.at(-1)?.rssBytes ?? null,
    peakBytes: read.length > 0 ? read.reduce((most, sample) => Math.max(most, sample.rssBytes), 0) : null,
    kibPerSession,
    limitBytes,
    capacity: capacityOf(limit, kibPerSession, limitBytes),
  };
}

/** A default cap is no capacity qualification: what it would hold, against what there is. */
function capacityOf(
  sessionLimit: number | null,
  kib: Estimate | null,
  limitBytes: number | null,
): MemoryReport['capacity'] {
  if (sessionLimit === null || kib === null || limitBytes === null) return null;
  const bytes = Math.round(sessionLimit * Math.max(0, kib.estimate) * KIB);
  return { sessionLimit, bytes, limitBytes, fits: bytes <= limitBytes };
}

/** Over the main load alone: the warm-up fills pools and caches, which are no session's. */
function slopeOf(evidence: Evidence): Estimate | null {
  const load = evidence.events.phases.find((record) => record.phase === 'load');
  const next = load && evidence.events.phases.find((record) => record.t > load.t && record.phase !== 'load');
  if (!load) return null;
  const begun = evidence.events.ops
    .filter((op) => op.step === 'open' || op.step === 'refuse')
    .map((op) => op.t)
    .sort((a, b) => a - b);
  const points: Point[] = [];
  let x = 0;
  for (const sample of evidence.events.samples) {
    while ((begun[x] ?? Infinity) <= sample.t) x++;
    const inside = sample.t >= load.t && sample.t <= (next?.t ?? Infinity);
    if (sample.memory && inside) points.push({ x, y: sample.memory.rssBytes / KIB });
  }
  return robustSlope(points);
}
