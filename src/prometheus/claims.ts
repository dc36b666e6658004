/** The claims that series can answer. To add one: an entry here, for the cases that make it. */
import * as catalogue from '../metrics/catalogue.ts';
import { fail, of, pass, unmeasured, withdrawn, type Finding } from '../verdict/finding.ts';
import type { Judge, Known } from './known.ts';
import { bounded, capExact, capRefuses } from './limits.ts';
import type { LoadSide } from './load-side.ts';
import type { Kept } from './retention.ts';
import type { ServerSide } from './server-side.ts';

/** A share of a mixed load that is held for this long, with a quiet stream; see src/cases/mixed.ts. */
const QUIET_SECONDS = 2;

const NEVER_AT_REST =
  'No scrape of the server fell into a time at which the load had come to rest: let mcp-retention load --linger for a few scrape intervals, or let Prometheus scrape on after k6 has ended.';

/** Retained sessions of one class, in a run of several cases; of a run of one case, all. */
function judgeKept(
  known: Known,
  kind: keyof Kept,
  played: number,
  noun: string,
  reason: (kept: number) => string,
): Finding {
  const { retention, alone } = known;
  const { distrust, kept, resting } = retention;
  if (distrust !== null) return unmeasured(distrust);
  const proven = Math.max(kept.all, kept.unopened, resting?.drift ?? 0);
  const own = alone ? proven : Math.min(kept[kind], proven);
  if (own > 0) return fail(expectedText(known), of(own, played, `${noun} kept`), reason(own));
  if (proven > 0)
    return unmeasured(
      `The target keeps ${proven} sessions, and which the series do not tell: play this case alone.`,
    );
  return atRest(known);
}

/** Nothing is proven to be kept: then the moment at rest decides. */
function atRest(known: Known): Finding {
  const { resting, baseline } = known.retention;
  if (resting === null) return unmeasured(whyNotAtRest(known));
  if (resting.drift < 0)
    return unmeasured(
      `${-resting.drift} sessions that should be registered are not: the counts do not fit what was played.`,
    );
  const before = baseline?.registered ?? 0;
  if (before > 0)
    return unmeasured(
      `${before} sessions were registered before the run: if they end meanwhile, as many kept ones stay unseen. Measure the server while it holds none.`,
    );
  return pass(expectedText(known), `${resting.counts.registered} registered`);
}

function whyNotAtRest({ load, server }: Known): string {
  if (load.held && load.openInTheEnd > 0)
    return `By the load's last counters ${load.openInTheEnd} sessions are still open: it was cut, or it still runs.`;
  return endsEarly(server, load) ? GAP_AT_END : NEVER_AT_REST;
}

const GAP_AT_END = 'The server was not scraped any more when the load ended (a scrape gap).';

/** The two sides are scraped at different moments: the last of one may be a little before the last of the other. */
const endsEarly = (server: ServerSide, load: LoadSide): boolean =>
  (server.times.at(-1) ?? -Infinity) < load.last - 2.5 * (server.interval ?? 0);

const expectedText = ({ retention: { resting } }: Known): string =>
  resting === null ? 'none kept' : `${resting.expected.max} registered`;

const holds: Judge = (known) => {
  const { kept, resting } = known.retention;
  const count = Math.max(kept.all, kept.unopened, resting?.drift ?? 0);
  return judgeKept({ ...known, alone: true }, 'all', openings(known.load), 'sessions', () =>
    [
      `The registry holds ${count} sessions more than the load side allows`,
      resting === null
        ? ', as the counters of both sides prove while the load runs.'
        : ' when the load has come to rest.',
    ].join(''),
  );
};

const openings = (load: LoadSide): number =>
  load.final(catalogue.clientOpened) + load.final(catalogue.clientRefused);

const deregisters: Judge = (known, ofCase) =>
  judgeKept(
    known,
    'deleted',
    known.load.final(catalogue.clientDeleted, caseOf(known, ofCase)),
    'deleted sessions',
    (kept) => `DELETE ends the session and keeps ${kept} registry entries${remnantsText(known)}.`,
  );

/** A class of sessions is counted over all cases of the target; played is told of the case, where it is alone. */
const caseOf = ({ alone }: Known, ofCase: string): Readonly<Record<string, string>> =>
  alone ? { case: ofCase } : {};

const remnantsText = ({ retention: { resting } }: Known): string =>
  (resting?.counts.remnants ?? 0) > 0
    ? `, ${resting?.counts.remnants} of all being remnants whose transport has ended`
    : '';

const reclaimed: Judge = (known, ofCase) => {
  const { load, retention, server } = known;
  const idle = retention.policy.idle;
  const late =
    retention.resting !== null && retention.resting.expected.max > (retention.baseline?.registered ?? 0);
  const finding = judgeKept(
    known,
    'abandoned',
    load.final(catalogue.clientAbandoned, caseOf(known, ofCase)),
    'abandoned sessions',
    (kept) => `${kept} abandoned sessions outlive the idle timeout of ${server.idleTimeout ?? idle} s.`,
  );
  if (finding.status !== 'pass' || !late) return finding;
  return unmeasured(
    `Not every abandoned session was due: the last scrape at rest came less than ${idle + retention.policy.slack} s after it. Let Prometheus scrape on for longer than the idle timeout.`,
  );
};

const registersNothing: Judge = (known, ofCase) =>
  judgeKept(
    known,
    'unopened',
    known.load.final(catalogue.clientRefused, caseOf(known, ofCase)),
    'refused openings',
    (kept) => `A refusal leaves its session behind: ${kept} kept.`,
  );

const accepted: Judge = (known, ofCase) => {
  const { load } = known;
  const deletions = load.answers('DELETE', '', ofCase);
  const done = load.answers('DELETE', '2', ofCase);
  const broken = load.answers('DELETE', '0', ofCase);
  const bad = deletions - done - broken - load.answers('DELETE', '404', ofCase);
  if (deletions === 0) return unmeasured('The series tell of no DELETE.');
  if (bad > 0)
    return fail(
      '2xx',
      `${of(bad, deletions, 'DELETEs')} not so`,
      'The server did not accept the DELETE of live sessions.',
    );
  if (broken > 0) return unmeasured(`${of(broken, deletions, 'DELETEs')} got no answer.`);
  // Scripts also ask with ids that they have deleted: 404 is right there.
  if (done < load.final(catalogue.clientDeleted, { case: ofCase })) {
    if (mayExpireInUse(known)) return withdrawn(TOO_SHORT);
    // Two counters of k6 may stand in two of its writes.
    if (known.retention.resting === null) return unmeasured(whyNotAtRest(known));
    return fail(
      '2xx',
      `${of(done, deletions, 'DELETEs')} accepted`,
      'The server does not know live sessions when they are deleted.',
    );
  }
  return pass('2xx', `${done} DELETEs accepted`);
};

const refused: Judge = ({ load }, ofCase) => {
  const [all, good] = [load.answers(null, '', ofCase), load.answers(null, '4', ofCase)];
  if (all === 0) return unmeasured('The series tell of no refused opening.');
  if (good === all) return pass('4xx', `${good} refused openings: 4xx`);
  return withdrawn(
    `${of(all - good, all, 'openings')} were not answered with 4xx, and the series do not tell whether they are of a kind that a server may accept.`,
  );
};

/** A load side that is slow may let a session idle for longer than this between two of its requests. */
const SURELY_BUSY_SECONDS = 30;

/** Whether a session that the load side uses can expire rightly: the series do not tell how long each was idle. */
const mayExpireInUse = ({ server }: Known): boolean =>
  server.idleTimeout !== null && server.idleTimeout < SURELY_BUSY_SECONDS;

const TOO_SHORT =
  'The idle timeout is so short that a slow load side may let sessions in use expire, and the series do not tell how long each was idle.';

/** Sessions of the run that ended without the load side's doing. */
function lost({ load, retention }: Known): number | null {
  const { resting, baseline, distrust } = retention;
  if (resting === null || baseline === null || distrust !== null) return null;
  const allowed = load.final(catalogue.clientAbandoned) + load.final(catalogue.clientUncertain);
  const expired = resting.counts.expirations - baseline.expirations - allowed;
  return Math.max(0, expired, -resting.drift);
}

const aliveWithin: Judge = (known) => {
  const found = lost(known);
  if (found === null) return unmeasured(known.retention.distrust ?? whyNotAtRest(known));
  if (mayExpireInUse(known)) return withdrawn(TOO_SHORT);
  if (found > 0)
    return fail(
      'all still registered',
      `${found} are not`,
      'Abandoned sessions leave the registry before their idle timeout: clients lose work.',
    );
  const { resting, policy } = known.retention;
  if ((resting?.expected.min ?? 0) === 0)
    return withdrawn(
      `At rest no abandoned session was left to expect (deleted in the end, or idle for ${policy.idle} s): the series do not tell whether it lived until then.`,
    );
  return pass('all still registered', `${resting?.counts.registered ?? 0} registered`);
};

const streamSurvives: Judge = (known, ofCase) => {
  const idle = known.server.idleTimeout;
  const found = lost(known);
  if (mayExpireInUse(known)) return withdrawn(TOO_SHORT);
  if (found !== null && found > 0)
    return fail(
      'no session in use expires',
      `${found} expired`,
      'Sessions expire while the load side uses them: idleness is counted from arrival, not from the last request in flight.',
    );
  if (idle === null || (ofCase !== 'keepalive' && idle > QUIET_SECONDS))
    return withdrawn(
      'The idle timeout is longer than the load holds a session quietly, or there is none: nothing was put to the test.',
    );
  if (found === null) return unmeasured(known.retention.distrust ?? whyNotAtRest(known));
  return pass('no session in use expires', '0 expired');
};

const identity: Judge = ({ server, retention }) => {
  const { readings, broken } = server.identity(retention.begin, retention.resting?.at ?? Infinity);
  if (readings === 0) return unmeasured(retention.distrust ?? 'No scrape has all four counts of a manager.');
  if (broken.length === 0) return pass('identity drift 0', `0 in each of ${readings} scraped managers`);
  const worst = broken.reduce((most, drift) => (Math.abs(drift) > Math.abs(most) ? drift : most), 0);
  return fail(
    'identity drift 0',
    `up to ${worst} in ${broken.length} of ${readings} scraped managers`,
    'The registry changed without a registration or removal that the probe saw: its counts cannot be trusted.',
  );
};

const survives: Judge = ({ server, retention, load }) => {
  const expected = 'the same processes, and openings answered';
  const { change } = retention;
  if (server.managers.length === 0) return unmeasured(retention.distrust ?? 'The server is not scraped.');
  if (change !== null && change.at < load.last)
    return unmeasured(
      `During the run ${change.reason}: the series do not tell whether it crashed or was stopped.`,
    );
  if (endsEarly(server, load)) return unmeasured(GAP_AT_END);
  if (load.final(catalogue.clientOpened) === 0 && load.final(catalogue.clientRefused) === 0)
    return unmeasured('The load opened nothing.');
  return pass(expected, `${server.workers.length} workers as before, scraped to the end of the load`);
};

/** Judged by series alone: a recording says it case by case. */
export const RETENTION_CLAIM = 'retention.holds';

export const EVERY_TARGET: Readonly<Record<string, Judge>> = {
  [RETENTION_CLAIM]: holds,
  'identity.holds': identity,
  'survival.serves-after': survives,
};

/** By the case, as `src/cases` names it. */
export const OF_CASE: Readonly<Record<string, Readonly<Record<string, Judge>>>> = {
  delete: { 'delete.accepted': accepted, 'delete.deregisters': deregisters },
  'delete-expiry': { 'delete-expiry.reclaimed': deregisters },
  abandon: { 'abandon.alive-within-timeout': aliveWithin, 'abandon.bounded': bounded },
  'abandon-expiry': { 'abandon-expiry.alive-before': aliveWithin, 'abandon-expiry.reclaimed': reclaimed },
  reject: { 'reject.refused': refused, 'reject.registers-nothing': registersNothing },
  'over-cap': { 'over-cap.refuses': capRefuses, 'over-cap.exact': capExact },
  keepalive: { 'keepalive.stream-survives': streamSurvives },
};

export const RETENTION_SAYS = 'The registry never holds more sessions than the load side allows.';
