/**
 * Did the registry let go of what it should have let go of, by two sets of samples that were never taken at the same
 * moment? docs/scale.md has the reasoning. In short: a failure is proven by counters, which only grow, so that a later
 * sample of one bounds an earlier moment of the other; a pass needs a moment at which the load had come to rest.
 */
import * as catalogue from '../metrics/catalogue.ts';
import { DEFAULT_LAG_MS, DEFAULT_SLACK_MS } from '../ledger/ledger.ts';
import type { Bounds, ExpiryPolicy, LoadSide } from './load-side.ts';
import { atLeastBy, atMostBy, sum, thinned, type Series } from './series.ts';
import type { Count, Reading, ServerSide } from './server-side.ts';

/** Proven at least, over all moments: the most sessions that had to be gone, or never to be there, and were. */
export interface Kept {
  /** Of all that had to be gone: a lower bound, however they ended. */
  readonly all: number;
  /** Of those whose DELETE was accepted. */
  readonly deleted: number;
  /** Of those abandoned for longer than the idle timeout. */
  readonly abandoned: number;
  /** Registered by other openings than those that the load side knows to have succeeded. */
  readonly unopened: number;
}

/** A moment at which nothing was under way on either side. */
export interface RestingPoint {
  readonly at: number;
  readonly counts: Readonly<Record<Count, number>>;
  /** The same, less what had been counted before the run. */
  readonly gained: Readonly<Record<Count, number>>;
  /** With what was registered before the run. */
  readonly expected: Bounds;
  readonly drift: number;
}

/** Sessions in use for longer than the idle timeout: opened at least that long ago, and neither left nor deleted. */
export interface Use {
  /** The most that were seen at one scrape. */
  readonly most: number;
  /** The most that were missing from the registry, at least. */
  readonly missing: number;
}

export interface Retention {
  /** Until then nothing of the run had been opened. Seconds since the epoch. */
  readonly begin: number;
  readonly kept: Kept;
  readonly resting: RestingPoint | null;
  readonly use: Use;
  /** What the managers had counted before the run; null where it is not known. */
  readonly baseline: Readonly<Record<Count, number>> | null;
  /** Why the counts cannot be judged, in one sentence, or null. */
  readonly distrust: string | null;
  /** When a worker first came, went or changed, and why; null: never. */
  readonly change: { readonly at: number; readonly reason: string } | null;
  readonly policy: ExpiryPolicy;
  /** Two samples whose times differ by more than this were taken in that order. */
  readonly skew: number;
}

export interface Timing {
  /** Seconds that the longest scrape took; null: not known. */
  readonly longestScrape: number | null;
  readonly idleSeconds: number;
}

/** Prometheus' own default for how long a scrape may take. */
const SCRAPE_TIMEOUT_SECONDS = 10;
/** k6 dates its samples by its own machine's clock, and rounds. */
const CLOCK_SLACK_SECONDS = 2;
/** k6 has surely written its last word when it has been silent for twice its usual interval. */
const SILENT_SECONDS = 10;
/** Longer than an opening waits for its answer. */
const ANSWER_SECONDS = 10;
/** The load side opens and deletes a session of its own before it begins, and does not count it. */
export const FIRST_LOOK = 1;
const MOST_MOMENTS = 2000;

const OPENED = catalogue.clientOpened;

export function retentionOf(load: LoadSide, server: ServerSide, timing: Timing): Retention {
  const scrape = timing.longestScrape ?? SCRAPE_TIMEOUT_SECONDS;
  const skew = scrape + DEFAULT_LAG_MS / 1000 + (load.source === 'counters' ? CLOCK_SLACK_SECONDS : 0);
  const policy: ExpiryPolicy = { idle: timing.idleSeconds, slack: DEFAULT_SLACK_MS / 1000 };
  const begin = load.idleUntil;
  const change = server.changeBetween(begin, load.first, server.times.at(-1) ?? begin);
  const baseline = server.baselineAt(begin);
  const context: Context = {
    load,
    server,
    policy,
    skew,
    scrape,
    begin,
    baseline,
    until: change?.at ?? Infinity,
  };
  const resting = restingPoint(context);
  const kept = keptOf(context, resting);
  return {
    begin,
    kept,
    resting,
    use: useOf(context),
    baseline,
    change,
    policy,
    skew,
    distrust: distrustOf(context, kept, resting, change),
  };
}

interface Context {
  readonly load: LoadSide;
  readonly server: ServerSide;
  readonly policy: ExpiryPolicy;
  readonly skew: number;
  readonly scrape: number;
  readonly begin: number;
  readonly baseline: Retention['baseline'];
  /** Nothing that was read later is judged. */
  readonly until: number;
}

const NOTHING: Kept = { all: 0, deleted: 0, abandoned: 0, unopened: 0 };

function keptOf(context: Context, resting: RestingPoint | null): Kept {
  const { load, baseline, policy, skew, begin } = context;
  if (baseline === null) return NOTHING;
  const most = { ...NOTHING };
  const raise = (name: keyof Kept, value: number): void => {
    most[name] = Math.max(most[name], value);
  };
  for (const b of thinned(load.times, MOST_MOMENTS)) {
    if (b < begin) continue;
    const after = judged(context, b + skew);
    if (after !== null) {
      const gained = (name: Count): number => after.counts[name] - baseline[name];
      raise('all', load.goneBy(b, policy) - gained('removals'));
      raise('deleted', deletedBy(load, b) - (gained('removals') - gained('expirations')));
    }
    const due = judged(context, b + policy.idle + policy.slack + skew);
    if (due !== null)
      raise('abandoned', leftBehindBy(load, b) - (due.counts.expirations - baseline.expirations));
  }
  raise('unopened', unopenedOf(context));
  // At rest nothing is in flight: what has not succeeded by then never will.
  if (resting !== null) raise('unopened', beyondOpened(context, resting.counts, resting.at));
  return most;
}

function judged({ server, until }: Context, t: number): Reading | null {
  const reading = server.readingFrom(t);
  return reading === null || reading.until > until ? null : reading;
}

/** Sessions that a client works with must be there at every scrape; a DELETE may be under way for a while. */
function useOf(context: Context): Use {
  const { load, server, baseline, policy, skew, begin } = context;
  const use = { most: 0, missing: 0 };
  const idle = Math.max(policy.idle, server.idleTimeout ?? 0) + policy.slack;
  if (baseline === null) return use;
  const ended = [catalogue.clientDeleted, catalogue.clientAbandoned];
  const unknown = load.unanswered.deletions + load.declined;
  for (const a of thinned(server.times, MOST_MOMENTS)) {
    const reading = a < begin ? null : judged(context, a);
    if (reading === null) continue;
    const answered = reading.until + ANSWER_SECONDS + skew;
    const mayHaveEnded = ended.map((metric) => load.mostBy(metric, answered) ?? Infinity);
    const open = (since: number): number => atLeastBy(load.of(OPENED), since) - sum(mayHaveEnded) - unknown;
    use.most = Math.max(use.most, open(a - idle - skew));
    use.missing = Math.max(use.missing, open(a - skew) - reading.counts.registered);
  }
  return use;
}

/** Deleted with success: an answer of 404 to a DELETE counts as deleted on the load side, and removes nothing. */
const deletedBy = (load: LoadSide, t: number): number =>
  sum(
    load.cases.map((ofCase) =>
      Math.max(
        0,
        atLeastBy(load.of(catalogue.clientDeleted, { case: ofCase }), t) -
          load.answers('404', { method: 'DELETE', case: ofCase }),
      ),
    ),
  );

/** Abandoned, and not deleted afterwards. */
const leftBehindBy = (load: LoadSide, t: number): number =>
  atLeastBy(load.of(catalogue.clientAbandoned), t) - load.both;

/** What was registered by one moment and had not succeeded by the time at which every answer was there. */
function unopenedOf(context: Context): number {
  const { server, skew, begin } = context;
  let most = 0;
  for (const a of thinned(server.times, MOST_MOMENTS)) {
    const reading = a < begin ? null : judged(context, a);
    if (reading === null) continue;
    most = Math.max(most, beyondOpened(context, reading.counts, reading.until + ANSWER_SECONDS + skew));
  }
  return most;
}

/** Registrations, less the openings that had succeeded, or may have, by `answered`. */
function beyondOpened({ load, baseline }: Context, counts: Reading['counts'], answered: number): number {
  const by = (series: readonly Series[]): number => atMostBy(series, answered, load.held) ?? Infinity;
  const opened = by(load.of(OPENED)) + by(load.of(catalogue.clientUncertain));
  return counts.registrations - (baseline?.registrations ?? 0) - opened - FIRST_LOOK;
}

/** The latest moment at rest. Where others have used the server afterwards, the latest before that. */
function restingPoint(context: Context): RestingPoint | null {
  const { load, server, baseline, policy, skew, scrape, begin } = context;
  const longest = 2.5 * (server.interval ?? 0);
  if (baseline === null || load.isCut) return null;
  for (const a of thinned(server.times, MOST_MOMENTS).reverse()) {
    if (a <= begin || (load.held && a < load.last + SILENT_SECONDS)) return null;
    const reading = judged(context, a);
    if (reading === null || reading.until - a > longest) continue;
    const own = load.restingExpectation(a - skew, reading.until + scrape, policy);
    if (own === null || strangersIn(context, reading) > 0) continue;
    // What others had registered before may end at any time.
    const expected = { min: own.min, max: baseline.registered + own.max };
    const { until, counts } = reading;
    const { registered } = counts;
    const drift = Math.max(0, registered - expected.max) + Math.min(0, registered - expected.min);
    return { at: until, counts, gained: gainedOf(counts, baseline), expected, drift };
  }
  return null;
}

const gainedOf = (counts: Reading['counts'], before: Reading['counts']): Reading['counts'] =>
  Object.fromEntries(
    Object.entries(counts).map(([name, value]) => [name, value - before[name as Count]]),
  ) as Record<Count, number>;

/** Sessions that were registered for others: more than the load side can have caused, refused openings included. */
function strangersIn({ load, baseline, skew }: Context, { until, counts }: Reading): number {
  const by = (series: readonly Series[]): number =>
    atMostBy(series, until + skew + ANSWER_SECONDS, true) ?? Infinity;
  const ours = [OPENED, catalogue.clientRefused, catalogue.clientUncertain].map((metric) =>
    by(load.of(metric)),
  );
  return counts.registrations - (baseline?.registrations ?? 0) - sum(ours) - FIRST_LOOK;
}

function distrustOf(
  context: Context,
  kept: Kept,
  resting: RestingPoint | null,
  change: Retention['change'],
): string | null {
  const { load, server, baseline } = context;
  if (server.managers.length === 0)
    return `Prometheus has no registry counts of target ${load.target}: attach the probe, let Prometheus scrape the exporter, and give its target the same name (docs/exporter.md).`;
  if (server.workers.some(({ unsupported }) => unsupported))
    return 'The probe does not know this SDK or met an error: its counts cannot be trusted.';
  if (server.builds.length > 1)
    return `Several builds served the target during the run (${server.builds.join(', ')}): whose sessions were kept cannot be told.`;
  if (load.twice)
    return 'A counter of the load side went back: two runs bear the same name, or k6 instances that no tag tells apart.';
  if (baseline === null)
    return 'The server was not scraped before the load began, so what was registered then is not known: let Prometheus scrape the exporter first.';
  if (kept.all > 0 || kept.unopened > 0) return foreignTraffic(context, kept);
  if (change !== null && (resting === null || change.at < load.last))
    return `During the run ${change.reason}: its counts begin anew there. Measure it while nothing restarts it.`;
  return unseen(context);
}

function foreignTraffic({ load }: Context, { unopened }: Kept): string | null {
  const refused = load.final(catalogue.clientRefused);
  if (unopened <= refused) return null;
  return `Other clients use this server: ${unopened} sessions were registered that the load did not open, and it had ${refused} openings refused. Measure it while nobody else does.`;
}

/** Each session that was opened must have been registered where the probe looks. */
function unseen(context: Context): string | null {
  const { load, baseline, skew } = context;
  for (const b of thinned(load.times, MOST_MOMENTS)) {
    const after = judged(context, b + skew);
    if (after === null || baseline === null) continue;
    const seen = after.counts.registrations - baseline.registrations;
    const opened = atLeastBy(load.of(OPENED), b);
    if (seen < opened)
      return `The exporter saw ${seen} of ${opened} sessions being registered: it does not read every worker of this target.`;
  }
  return null;
}
