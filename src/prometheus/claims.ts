/** The claims that series can answer. To add one: an entry here, for the cases that make it. */
import * as catalogue from '../metrics/catalogue.ts';
import { fail, of, pass, unmeasured, withdrawn } from '../verdict/finding.ts';
import { accepted, deregisters, reclaimedDeleted } from './deletions.ts';
import { unopenedOf } from './expiry.ts';
import { gapAtEnd, judgeKept, nothingPlayed, unknownText } from './kept.ts';
import type { Judge } from './known.ts';
import { aliveWithin, streamSurvives } from './lasting.ts';
import { bounded, capExact, capRefuses } from './limits.ts';
import { FIRST_LOOK } from './retention.ts';
import { sum } from './series.ts';

const holds: Judge = (known) => {
  const { load, retention } = known;
  const openings = [catalogue.clientOpened, catalogue.clientRefused];
  const reason = (count: number): string =>
    `The registry holds ${count} sessions more than the load side allows${(retention.resting?.drift ?? 0) < count ? ', as the counters of both sides prove while the load runs.' : ' when the load has come to rest.'}`;
  return judgeKept(
    { ...known, alone: true },
    {
      kind: 'all',
      count: sum(openings.map((metric) => load.final(metric))),
      played: sum(openings.map((metric) => load.played(metric))),
      noun: 'sessions',
      reason,
    },
  );
};

const reclaimed: Judge = (known, ofCase) => {
  const { load, retention, server, alone } = known;
  const { policy, resting } = retention;
  const finding = judgeKept(known, {
    kind: 'abandoned',
    count: load.final(catalogue.clientAbandoned, alone ? { case: ofCase } : {}),
    played: load.played(catalogue.clientAbandoned, { case: ofCase }),
    noun: 'abandoned sessions',
    reason: (kept) =>
      `${kept} abandoned sessions outlive the idle timeout of ${server.idleTimeout ?? policy.idle} s.`,
  });
  if (finding.status !== 'pass' || resting?.counts.registered === 0) return finding;
  return unmeasured(
    `Not every abandoned session was due: the last scrape at rest came less than ${policy.idle + policy.slack} s after it. Let Prometheus scrape on for longer than the idle timeout.`,
  );
};

const registersNothing: Judge = (known, ofCase) => {
  const { load, alone } = known;
  const finding = judgeKept(known, {
    kind: 'unopened',
    count: load.final(catalogue.clientRefused, alone ? { case: ofCase } : {}),
    played: load.played(catalogue.clientRefused, { case: ofCase }),
    noun: 'refused openings',
    reason: (kept) => `A refusal leaves its session behind: ${kept} kept.`,
  });
  const more = unopenedOf(known) - FIRST_LOOK;
  if (finding.status !== 'pass' || more <= 0) return finding;
  return unmeasured(`${more} sessions more were registered than openings succeeded: ${unknownText(load)}`);
};

const refused: Judge = ({ load }, ofCase) => {
  const [all, good] = ['', '4'].map((status) => load.playedAnswers(status, { case: ofCase }));
  if (all === undefined || all === 0)
    return unmeasured('The series tell of no refused opening: let the load play this case.');
  if (good === all) return pass('4xx', `${good} refused openings: 4xx`);
  return withdrawn(
    `${of(all - (good ?? 0), all, 'openings')} were not answered with 4xx, and the series do not tell whether they are of a kind that a server may accept.`,
  );
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

const survives: Judge = (known) => {
  const { server, retention, load } = known;
  const expected = 'the same processes, and openings answered';
  const { change } = retention;
  if (server.managers.length === 0) return unmeasured(retention.distrust ?? 'The server is not scraped.');
  if (change !== null && change.at < load.last)
    return unmeasured(
      `During the run ${change.reason}: the series do not tell whether it crashed or was stopped.`,
    );
  const gap = gapAtEnd(known);
  if (gap !== null) return unmeasured(gap);
  const { asked, bad, lost } = load.survival;
  // A worker that does not know the session answers so as well.
  if (bad > 0 && bad === lost)
    return unmeasured(`After the load ${of(lost, asked, 'requests')} got 404: was another worker asked?`);
  if (bad > 0)
    return fail(
      expected,
      `${of(bad, asked, 'requests')} after the load not so`,
      'After the load the server no longer serves: a fresh session was not answered with 2xx.',
    );
  if (load.played(catalogue.clientOpened) + load.played(catalogue.clientRefused) === 0)
    return unmeasured(nothingPlayed(known, 'openings'));
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
  'delete-expiry': { 'delete-expiry.reclaimed': reclaimedDeleted },
  abandon: { 'abandon.alive-within-timeout': aliveWithin, 'abandon.bounded': bounded },
  'abandon-expiry': { 'abandon-expiry.alive-before': aliveWithin, 'abandon-expiry.reclaimed': reclaimed },
  reject: { 'reject.refused': refused, 'reject.registers-nothing': registersNothing },
  'over-cap': { 'over-cap.refuses': capRefuses, 'over-cap.exact': capExact },
  keepalive: { 'keepalive.stream-survives': streamSurvives },
};

export const RETENTION_SAYS = 'The registry never holds more sessions than the load side allows.';
