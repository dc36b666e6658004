import type { Samples } from '../recording/samples.ts';
import type { Evidence } from './evidence.ts';
import type { MemoryReport } from './schema.ts';
import { robustSlope, type Estimate, type Point } from './statistics.ts';

const KIB = 1024;

/** Resident memory beside the sessions played so far: evidence, never a verdict. */
export function memoryOf(evidence: Evidence): MemoryReport {
  const kibPerSession = slopeOf(evidence);
  const read = readOf(evidence.events.samples);
  return {
    ...read,
    kibPerSession,
    capacity: capacityOf(evidence.sessionLimit ?? null, kibPerSession, read.limitBytes),
  };
}

type Read = Pick<MemoryReport, 'startBytes' | 'endBytes' | 'peakBytes' | 'limitBytes'>;

function readOf(samples: Samples): Read {
  const read: Read = { startBytes: null, endBytes: null, peakBytes: null, limitBytes: null };
  for (let i = 0; i < samples.length; i++) {
    const bytes = samples.rssBytesAt(i);
    if (bytes === null) continue;
    read.startBytes ??= bytes;
    read.endBytes = bytes;
    read.peakBytes = Math.max(read.peakBytes ?? 0, bytes);
    read.limitBytes = samples.limitBytesAt(i) ?? read.limitBytes;
  }
  return read;
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
  const { samples } = evidence.events;
  const points: Point[] = [];
  let x = 0;
  for (let i = 0; i < samples.length; i++) {
    const t = samples.time(i);
    const bytes = samples.rssBytesAt(i);
    while ((begun[x] ?? Infinity) <= t) x++;
    const inside = t >= load.t && t <= (next?.t ?? Infinity);
    if (bytes !== null && inside) points.push({ x, y: bytes / KIB });
  }
  return robustSlope(points);
}
