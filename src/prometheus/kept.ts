/** What is proven to be kept, and when nothing is. */
import { fail, of, pass, unmeasured, type Finding } from '../verdict/finding.ts';
import type { Known } from './known.ts';
import type { LoadSide } from './load-side.ts';
import { cutOf } from './parts.ts';
import type { Kept, RestingPoint } from './retention.ts';
import type { ServerSide } from './server-side.ts';

const NEVER_AT_REST =
  'No scrape of the server fell into a time at which the load had come to rest: let mcp-retention load --linger for a few scrape intervals, or let Prometheus scrape on after k6 has ended.';
const GAP_AT_END = 'The server was not scraped any more when the load ended (a scrape gap).';

/** A class of sessions of which a claim says that none is kept. */
export interface Class {
  readonly kind: keyof Kept;
  /** How many there were, for the text. */
  readonly count: number;
  /** How many of them the load itself played, as evidence. */
  readonly played: number;
  readonly noun: string;
  /** What it means that so many are kept. */
  readonly reason: (kept: number) => string;
  /** Kept by proof of its own, whatever is registered now. */
  readonly surely?: number;
}

/** Retained sessions of one class, in a run of several cases; of a run of one case, all. */
export function judgeKept(known: Known, { kind, count, played, noun, reason, surely = 0 }: Class): Finding {
  const { retention, alone } = known;
  const { distrust, kept } = retention;
  if (distrust !== null) return unmeasured(distrust);
  if (played === 0) return unmeasured(nothingPlayed(known, noun));
  const proven = provenOf(known);
  const own = Math.max(surely, alone ? proven : Math.min(kept[kind], proven));
  if (own > 0) return fail(expectedText(known), of(own, count, `${noun} kept`), reason(own));
  if (proven > 0)
    return unmeasured(
      `The target keeps ${proven} sessions, and which the series do not tell: play this case alone.`,
    );
  return atRest(known);
}

/** Of all sessions, at least so many are or were kept. */
export const provenOf = ({ retention: { kept, resting } }: Known): number =>
  Math.max(kept.all, kept.unopened, resting?.drift ?? 0);

/** Why a claim was not asked. */
export const nothingPlayed = ({ load }: Known, noun: string): string =>
  cutOf(load) ?? `The load had no ${noun} of this case, so nothing was put to the test: play more of it.`;

/** Nothing is proven to be kept: then the moment at rest decides. */
function atRest(known: Known): Finding {
  const { resting, baseline } = known.retention;
  if (resting === null) return unmeasured(whyNotAtRest(known));
  if (resting.drift < 0)
    return unmeasured(
      `${-resting.drift} sessions that should be registered are not: the counts do not fit what was played.`,
    );
  const before = baseline?.registered ?? 0;
  if (before > 0) return unmeasured(heldBefore(before, 'kept'));
  if (resting.counts.registered > resting.expected.min) return unmeasured(unsureText(known.load, resting));
  return pass(expectedText(known), `${resting.counts.registered} registered`);
}

export const heldBefore = (before: number, unseen: string): string =>
  `${before} sessions were registered before the run: if they end meanwhile, as many ${unseen} ones stay unseen. Measure the server while it holds none.`;

/** Registered are more than surely should be, and no more than may be. */
function unsureText(load: LoadSide, { counts: { registered }, expected: { min } }: RestingPoint): string {
  return `${registered} sessions are registered at rest, and ${registered - min} of them may be kept ones: ${unknownText(load)}`;
}

/** Why it is not known what became of some sessions. */
export function unknownText(load: LoadSide): string {
  const { openings, deletions } = load.unanswered;
  const declined = load.held && load.declined > 0 ? ` and ${load.declined} DELETEs were declined` : '';
  return `up to ${openings} openings and ${deletions} DELETEs got no answer${declined}, so that what became of their sessions is not known. Measure again where every request is answered.`;
}

export function whyNotAtRest({ load, server }: Known): string {
  return cutOf(load) ?? (endsEarly(server, load) ? GAP_AT_END : NEVER_AT_REST);
}

/** The server was not scraped to the end of the load, in one sentence; null: it was. */
export const gapAtEnd = ({ server, load }: Known): string | null =>
  endsEarly(server, load) ? GAP_AT_END : null;

/** The two sides are scraped at different moments: the last of one may be a little before the last of the other. */
const endsEarly = (server: ServerSide, load: LoadSide): boolean =>
  (server.times.at(-1) ?? -Infinity) < load.last - 2.5 * (server.interval ?? 0);

const expectedText = ({ retention: { resting } }: Known): string =>
  resting === null ? 'none kept' : `${resting.expected.max} registered`;
