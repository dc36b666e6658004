/** Resident memory beside the sessions registered so far, both of one scrape: evidence, never a verdict. */
import { robustSlope, type Point } from '../verdict/statistics.ts';
import type { MemoryReport } from '../verdict/schema.ts';
import { lastAt, sum, thinned, timesOf, type Series } from './series.ts';
import type { ServerSide, Worker } from './server-side.ts';

const KIB = 1024;
const MOST_POINTS = 2000;

/** @param from the run's beginning @param to its end, in seconds since the epoch */
export function memoryOf(server: ServerSide, from: number, to: number): MemoryReport {
  const workers = server.workers.filter(({ memory }) => memory !== null);
  const series = workers.flatMap(({ memory }) => memory ?? []);
  const times = thinned(
    timesOf(series).filter((t) => t >= from && t <= to),
    MOST_POINTS,
  );
  const readings = times.map((t) => ({ t, bytes: sumAt(series, t) }));
  const kibPerSession = robustSlope(
    readings.flatMap(({ t, bytes }): Point[] =>
      bytes === null ? [] : [{ x: registeredBy(server, t), y: bytes / KIB }],
    ),
  );
  const known = readings.flatMap(({ bytes }) => bytes ?? []);
  const limitBytes = limitOf(workers);
  const limit = server.limit;
  const bytes = Math.round((limit ?? 0) * Math.max(0, kibPerSession?.estimate ?? 0) * KIB);
  return {
    startBytes: known[0] ?? null,
    endBytes: known.at(-1) ?? null,
    peakBytes: known.length === 0 ? null : known.reduce((most, value) => Math.max(most, value), 0),
    kibPerSession,
    limitBytes,
    capacity:
      limit === null || kibPerSession === null || limitBytes === null
        ? null
        : { sessionLimit: limit, bytes, limitBytes, fits: bytes <= limitBytes },
  };
}

/** Of all workers together; null while one of them has not been read. */
function sumAt(series: readonly Series[], t: number): number | null {
  const values = series.map((one) => one.values[lastAt(one, t)]);
  return values.some((value) => value === undefined) ? null : sum(values.map((value) => value ?? 0));
}

const registeredBy = (server: ServerSide, t: number): number =>
  sum(
    server.managers.map(({ counts: { registrations } }) =>
      registrations === undefined ? 0 : (registrations.values[lastAt(registrations, t)] ?? 0),
    ),
  );

/** Null where a worker has none. */
function limitOf(workers: readonly Worker[]): number | null {
  const limits = workers.map(({ memoryLimit }) => memoryLimit?.values.at(-1));
  return limits.length === 0 || limits.some((limit) => limit === undefined)
    ? null
    : sum(limits.map((limit) => limit ?? 0));
}
