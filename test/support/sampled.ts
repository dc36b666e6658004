/**
 * A simulated run as Prometheus would hold it: sessions at exact times, seen through two scrapers out of step, or on the
 * load's side through what k6 writes.
 */
import { PREFLIGHT, SURVIVAL } from '../../src/cases/around.ts';
import * as catalogue from '../../src/metrics/catalogue.ts';
import { k6Names } from '../../src/metrics/k6.ts';
import type { Metric } from '../../src/metrics/metric.ts';
import type { RunSeries } from '../../src/prometheus/read.ts';
import type { Series } from '../../src/prometheus/series.ts';

/** Seconds since the run began. */
export interface SimulatedSession {
  readonly opened: number;
  readonly deleted: number | null;
  /** Left without DELETE; it expires when the idle timeout has passed since. */
  readonly abandoned?: number;
  /** The server ends it then, as expired, whatever the client does. */
  readonly lost?: number;
  /** The request that got no answer. */
  readonly unanswered?: 'opening' | 'deletion';
  /** The server did what that asked for. */
  readonly acted?: boolean;
}

export interface Simulation {
  readonly sessions: readonly SimulatedSession[];
  /** Openings that are refused. */
  readonly refused: readonly number[];
  /** Whether the registry keeps the entry of a deleted session, by its number. */
  readonly keeps: (index: number) => boolean;
  /** An entry that is kept expires so long after the DELETE; absent: never. */
  readonly keptFor?: number;
  /** Whether a refusal registers. */
  readonly registers: (index: number) => boolean;
  readonly interval: number;
  /** Of the server's scrapes against the load's, below the interval. */
  readonly offset: number;
  /** How long the load is still scraped after its last session, and the server. */
  readonly linger: number;
  /** The process is another one from then on; null: never. */
  readonly restartAt?: number;
  /** The server's idle timeout, in seconds. */
  readonly idle?: number;
  readonly case?: string;
  /** The load is k6's: it plays a session before and one after what it was asked for. Absent: ours. */
  readonly k6?: {
    /** Parts of its load that it began and finished. */
    readonly begun: number;
    readonly finished: number;
  };
}

/** Times far from zero, as they are. */
const EPOCH = 1_800_000_000;
/** Time that a server takes to discard what it was told to. */
const LAG = 0.05;
const BEFORE = 60;
/** k6 writes so often. */
const PUSH = 5;
const IDLE = 1800;

const TARGET = { target: 'shop', build: 'b1' };
const RUN = { ...TARGET, run: 'r' };
const SCRAPED = { job: 'load', instance: 'l:1' };
const SERVER = { job: 'exporter', instance: 'e:1', ...TARGET, worker: '7' };

type Labels = Readonly<Record<string, string>>;
type Times = readonly (number | null)[];
/** A counter, by the times at which it grows. */
type Counted = readonly [metric: Metric, labels: Labels, times: Times];

const count = (times: Times, t: number): number => times.filter((time) => time !== null && time <= t).length;

const seriesOf = (
  name: string,
  labels: Labels,
  times: readonly number[],
  value: (t: number) => number,
): Series => ({
  labels: { __name__: name, ...labels },
  times: times.map((t) => EPOCH + t),
  values: times.map(value),
});

export function sampled(given: Simulation): RunSeries {
  const { refused, interval, offset, linger, k6 } = given;
  const first = Math.min(10, ...refused, ...given.sessions.map(({ opened }) => opened));
  const last = Math.max(first, ...refused, ...given.sessions.map(endOf));
  const around: SimulatedSession[] = [
    { opened: Math.max(0, first - 0.5), deleted: Math.max(0, first - 0.5) + 0.1 },
    { opened: last + 0.2, deleted: last + 0.3 },
  ];
  const sessions = k6 === undefined ? given.sessions : [...given.sessions, ...around];
  const end = Math.max(last, ...sessions.map(endOf)) + linger;
  const steps = (from: number, begin: number): number[] =>
    Array.from(
      { length: Math.max(0, Math.ceil((end - from) / interval)) },
      (_, i) => begin + i * interval,
    ).filter((t) => t >= from && t <= end);
  return {
    load: k6 === undefined ? scrapedLoad(given, steps(0, 0.01)) : writtenLoad(given, around, k6),
    servers: serversOf({ ...given, sessions }, steps(-BEFORE, -BEFORE + offset)),
    longestScrape: 0.05,
    from: EPOCH - 300,
    to: EPOCH + end,
    cutAtStart: false,
  };
}

const endOf = ({ opened, deleted, abandoned }: SimulatedSession): number => abandoned ?? deleted ?? opened;

/** What a load side counts, without what is around it. */
function countedBy(sessions: readonly SimulatedSession[], refused: Times, labels: Labels): Counted[] {
  const answered = sessions.filter(({ unanswered }) => unanswered !== 'opening');
  const deleted = answered.map((one) => (one.unanswered === 'deletion' ? null : one.deleted));
  const [unopened, undeleted] = [
    sessions.map((one) => (one.unanswered === 'opening' ? one.opened : null)),
    sessions.map((one) => (one.unanswered === 'deletion' ? one.deleted : null)),
  ];
  const requests = (method: string, status: string, times: Times): Counted => [
    catalogue.clientRequests,
    { ...labels, method, status },
    times,
  ];
  return [
    [catalogue.clientOpened, labels, answered.map(({ opened }) => opened)],
    [catalogue.clientDeleted, labels, deleted],
    [catalogue.clientAbandoned, labels, answered.map(({ abandoned }) => abandoned ?? null)],
    [catalogue.clientUncertain, labels, [...unopened, ...undeleted]],
    [catalogue.clientRefused, { ...labels, reason: 'rejected' }, refused],
    requests('DELETE', '200', deleted),
    requests('DELETE', '0', undeleted),
    requests('POST', '0', unopened),
  ];
}

/** From 0 on, at each scrape, with the ledger's own interval. */
function scrapedLoad(
  { sessions, refused, idle = IDLE, case: ofCase = 'delete' }: Simulation,
  times: readonly number[],
): Series[] {
  const labels = { ...SCRAPED, ...RUN, case: ofCase };
  const counted = countedBy(sessions, refused, labels);
  const left = (t: number): number =>
    count(
      sessions.map(({ abandoned }) => (abandoned === undefined ? null : abandoned + idle)),
      t,
    );
  const of = (metric: Metric, t: number): number =>
    count(counted.find(([one]) => one === metric)?.[2] ?? [], t);
  const live = (t: number): number =>
    of(catalogue.clientOpened, t) - of(catalogue.clientDeleted, t) - left(t);
  const unsure = (what: SimulatedSession['unanswered'], t: number): number =>
    count(
      sessions.map((one) =>
        one.unanswered === what ? (what === 'opening' ? one.opened : one.deleted) : null,
      ),
      t,
    );
  return [
    ...counted.map(([metric, own, events]) => seriesOf(metric.name, own, times, (t) => count(events, t))),
    seriesOf(
      catalogue.clientExpected.name,
      { ...labels, bound: 'min' },
      times,
      (t) => live(t) - unsure('deletion', t),
    ),
    seriesOf(
      catalogue.clientExpected.name,
      { ...labels, bound: 'max' },
      times,
      (t) => live(t) + unsure('opening', t),
    ),
  ];
}

/** What has changed alone, in k6's own rhythm, and once more in the end. */
function writtenLoad(
  { sessions, refused, case: ofCase = 'delete' }: Simulation,
  around: readonly SimulatedSession[],
  { begun, finished }: NonNullable<Simulation['k6']>,
): Series[] {
  const labels = { ...RUN, case: ofCase };
  const [begin, end] = [around[0]?.deleted ?? 0, around[1]?.opened ?? 0];
  const counted: Counted[] = [
    ...countedBy(sessions, refused, labels),
    ...[PREFLIGHT, SURVIVAL].flatMap(({ name }, i) =>
      countedBy(around.slice(i, i + 1), [], { ...labels, stage: name }),
    ),
    [catalogue.partsBegun, labels, Array.from({ length: begun }, () => begin)],
    [catalogue.partsFinished, labels, Array.from({ length: finished }, () => end)],
  ];
  return counted.flatMap(([metric, own, events]) => {
    const known = events.filter((time) => time !== null);
    const times = [
      ...new Set(known.map((time) => Math.min(Math.ceil(time / PUSH) * PUSH, Math.max(time, end + 0.5)))),
    ];
    if (times.length === 0) return [];
    times.sort((a, b) => a - b);
    return [seriesOf(k6Names(metric)[1], own, times, (t) => count(known, t))];
  });
}

function serversOf(given: Simulation, times: readonly number[]): RunSeries['servers'] {
  const { sessions, refused, registers, restartAt = Infinity, idle = IDLE } = given;
  const there = sessions.map((one) => one.unanswered !== 'opening' || one.acted === true);
  const added = [
    ...sessions.map((one, i) => (there[i] === true ? one.opened - LAG : null)),
    ...refused.filter((_, i) => registers(i)),
  ];
  const ends = sessions.map((one, i) => (there[i] === true ? endIn(given, one, i) : null));
  const removed = ends.map((one) => one?.at ?? null);
  const expired = ends.map((one) => (one?.expired === true ? one.at : null));
  // What happened before a restart is not counted after it.
  const since = (t: number): number => (t >= restartAt ? restartAt : -Infinity);
  const of = (all: Times, t: number): number => count(all, t) - count(all, since(t));
  const manager = { ...SERVER, manager: '0' };
  const values: [Metric, Labels, (t: number) => number][] = [
    [catalogue.sessionsRegistered, manager, (t) => of(added, t) - of(removed, t)],
    [catalogue.sessionsRegisteredAtStart, manager, () => 0],
    [catalogue.sessionRegistrations, manager, (t) => of(added, t)],
    [catalogue.sessionRemovals, manager, (t) => of(removed, t)],
    [catalogue.sessionExpirations, manager, (t) => of(expired, t)],
    [catalogue.sessionRejections, manager, () => 0],
    [catalogue.sessionRemnants, manager, () => 0],
    [catalogue.sessionLimit, manager, () => 10_000],
    [catalogue.sessionIdleTimeout, manager, () => idle],
    [catalogue.serverStartTime, SERVER, (t) => (t >= restartAt ? EPOCH + restartAt : EPOCH - 1000)],
    [catalogue.probeSupported, SERVER, () => 1],
  ];
  return new Map(
    values.map(([metric, labels, value]) => [metric.name, [seriesOf(metric.name, labels, times, value)]]),
  );
}

/** When and why a session leaves the registry. */
function endIn(
  { keeps, keptFor = Infinity, idle = IDLE }: Simulation,
  { opened, deleted, abandoned, lost, unanswered, acted }: SimulatedSession,
  index: number,
): { readonly at: number; readonly expired: boolean } {
  const expiry = (deleted ?? abandoned ?? opened) + idle;
  const early = { at: lost ?? expiry, expired: true };
  const isHeard =
    deleted !== null && unanswered !== 'opening' && (unanswered !== 'deletion' || acted === true);
  if (!isHeard || early.at < deleted) return early;
  return keeps(index) ? { at: deleted + keptFor, expired: true } : { at: deleted + LAG, expired: false };
}
