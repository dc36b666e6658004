/** Finds a run in Prometheus and reads what both sides of it have to say: the load's series, and the exporter's. */
import pLimit from 'p-limit';
import * as catalogue from '../metrics/catalogue.ts';
import { K6_COUNTERS, K6_PARTS, k6Names } from '../metrics/k6.ts';
import type { Metric } from '../metrics/metric.ts';
import { PrometheusError, stepOf, type PrometheusClient } from './client.ts';
import type { Series } from './series.ts';

export interface Wanted {
  readonly run: string;
  /** Only this target; null: all that the run has. */
  readonly target: string | null;
  /** Seconds since the epoch between which the run is looked for. */
  readonly from: number;
  readonly to: number;
  /** Label matchers of the exporter's series, as in `job="mcp"`; empty for all. */
  readonly selector: string;
}

export interface RunSeries {
  /** The load's, under the catalogue's or k6's names. */
  readonly load: readonly Series[];
  /** By the catalogue's name. */
  readonly servers: ReadonlyMap<string, readonly Series[]>;
  /** The longest that a scrape of these took, in seconds; null where Prometheus does not tell. */
  readonly longestScrape: number | null;
  /** What was read, in seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** The run may have begun before what was looked at. */
  readonly cutAtStart: boolean;
}

/** What was before the run: as long as Prometheus looks back for a value. */
const LEAD_SECONDS = 300;
/** What came after it: an idle timeout of half an hour, twice, and some scrapes. */
const TAIL_SECONDS = 3900;
const AT_A_TIME = 4;

const OF_SERVERS: readonly Metric[] = [
  catalogue.sessionsRegistered,
  catalogue.sessionsRegisteredAtStart,
  catalogue.sessionRegistrations,
  catalogue.sessionRemovals,
  catalogue.sessionExpirations,
  catalogue.sessionRejections,
  catalogue.sessionRemnants,
  catalogue.sessionLimit,
  catalogue.sessionIdleTimeout,
  catalogue.serverStartTime,
  catalogue.probeSupported,
  catalogue.buildInfo,
  catalogue.serverResidentMemory,
  catalogue.serverMemoryLimit,
  catalogue.collectorSuccess,
];

const LOAD_NAMES = [
  ...K6_COUNTERS.flatMap((metric) => [metric.name, ...k6Names(metric)]),
  ...K6_PARTS.flatMap(k6Names),
  catalogue.clientExpected.name,
].join('|');

const quoted = (text: string): string => JSON.stringify(text);

/** @throws PrometheusError where the run, or the target in it, is not known */
export async function readRun(client: PrometheusClient, wanted: Wanted): Promise<RunSeries> {
  const { run, target } = wanted;
  const ofTarget = target === null ? '' : `,target=${quoted(target)}`;
  const selector = `{__name__=~${quoted(LOAD_NAMES)},run=${quoted(run)}${ofTarget}}`;
  const span = await spanOf(client, selector, wanted);
  const from = span.first - LEAD_SECONDS;
  const to = Math.min(wanted.to, span.last + TAIL_SECONDS);
  const load = await client.raw(selector, to, to - from);
  const targets = [...new Set(load.map(({ labels }) => labels.target ?? ''))].filter((name) => name !== '');
  if (targets.length === 0)
    throw new PrometheusError(`The series of run ${run} have no label target: give the load one.`);
  const servers = await serversOf(client, matchersOf(targets, wanted.selector), from, to);
  return {
    load,
    servers,
    longestScrape: await longestScrape(client, [...load, ...[...servers.values()].flat()], from, to),
    from,
    to,
    cutAtStart: span.cut,
  };
}

interface Span {
  readonly first: number;
  readonly last: number;
  readonly cut: boolean;
}

/** Roughly when the run was: to the step of a range query over all that is looked at. */
async function spanOf(client: PrometheusClient, selector: string, wanted: Wanted): Promise<Span> {
  const { from, to, run, target } = wanted;
  const found = await client.range((step) => `count(last_over_time(${selector}[${step}]))`, from, to);
  const [times] = found.map((series) => series.times);
  const [first, last] = [times?.[0], times?.at(-1)];
  if (first === undefined || last === undefined)
    throw new PrometheusError(
      `${client.shown} has no series of run ${run}${target === null ? '' : ` at target ${target}`} between ${iso(from)} and ${iso(to)}: is it scraped there, or written there by k6, and was that the time (--window, --from, --to)?`,
    );
  const step = stepOf(from, to);
  return { first: first - step, last, cut: first - step <= from };
}

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();

function matchersOf(targets: readonly string[], selector: string): string {
  const names = targets.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return [`target=~${quoted(names)}`, ...(selector === '' ? [] : [selector])].join(',');
}

async function serversOf(
  client: PrometheusClient,
  matchers: string,
  from: number,
  to: number,
): Promise<ReadonlyMap<string, readonly Series[]>> {
  const limit = pLimit(AT_A_TIME);
  const read = OF_SERVERS.map(({ name }) =>
    limit(async () => [name, await client.raw(`${name}{${matchers}}`, to, to - from)] as const),
  );
  return new Map(await Promise.all(read));
}

/** Prometheus dates a sample by when its scrape began: it was read at some time from then until the scrape ended. */
async function longestScrape(
  client: PrometheusClient,
  series: readonly Series[],
  from: number,
  to: number,
): Promise<number | null> {
  const jobs = [...new Set(series.map(({ labels }) => labels.job ?? ''))].filter((job) => job !== '');
  if (jobs.length === 0) return null;
  const names = jobs.map((job) => job.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const window = `${String(Math.ceil(to - from))}s`;
  const found = await client.instant(
    `max(max_over_time(scrape_duration_seconds{job=~${quoted(names)}}[${window}]))`,
    to,
  );
  return found[0]?.values[0] ?? null;
}
