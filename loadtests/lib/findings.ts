/** What became of each claim, from k6's counters alone: pass, fail, or unmeasured with the reason. */
import { SAYS, type ClaimId } from '../../src/cases/claims.ts';
import { DELETE_DECLINED, misrouted } from '../../src/cases/obstacles.ts';
import { clientUncertain } from '../../src/metrics/catalogue.ts';
import type { ClaimReport } from '../../src/verdict/schema.ts';
import type { Script, Told } from './around.ts';
import { ASKED, ofCheck, ofClaim, ofReading, UNANSWERED } from './checks.ts';
import { READ_AT } from './claims.ts';
import {
  BEYOND,
  DECLINED,
  DELETES,
  FOLLOWED,
  IDENTITY,
  LOST,
  RACE,
  READINGS,
  REGISTERED,
  REMNANTS,
  UNEXPIRED,
} from './ledger.ts';

/** Values of k6's metrics; 0 where there is none. @param value default: count */
export type Values = (metric: string, value?: string) => number;

/** What was played, and what of it is read. */
export interface Findable {
  readonly script: Script;
  readonly readings: readonly string[];
  /** Sessions that were abandoned may have expired by the time of a reading. */
  readonly mayExpire: boolean;
}

export function claimsOf(values: Values, told: Told | null, played: Findable): ClaimReport[] {
  return played.script.claims.map((id) => {
    const notPromised = told?.notPromised.find(({ claim }) => claim === id)?.reason;
    const finding: Finding =
      told === null
        ? unmeasured('The load did not begin: see what k6 says.')
        : notPromised !== undefined
          ? { ...unmeasured(notPromised), withdrawn: true }
          : routed(id, findingOf(id, values, told, played), values);
    const { status, expected, observed, reason, withdrawn } = finding;
    return {
      id,
      says: SAYS[id],
      status,
      promised: withdrawn !== true,
      expected,
      observed,
      reason,
      allowed: null,
    };
  });
}

interface Finding {
  readonly status: ClaimReport['status'];
  readonly expected: string;
  readonly observed: string;
  readonly reason: string;
  readonly withdrawn?: true;
}

const unmeasured = (reason: string): Finding => ({
  status: 'unmeasured',
  expected: '',
  observed: '',
  reason,
});

/** Requests that went to another worker than the one that knows the session tell nothing of either. */
function routed(id: ClaimId, finding: Finding, values: Values): Finding {
  const lost = values(LOST);
  const isMisled = id !== 'identity.holds' && (id !== 'survival.serves-after' || finding.status === 'fail');
  if (lost === 0 || finding.status === 'unmeasured' || !isMisled) return finding;
  return unmeasured(misrouted(lost, values(FOLLOWED)));
}

const OF_DELETED: readonly ClaimId[] = [
  'delete.deregisters',
  'delete.id-refused',
  'delete.repeat-settles',
  'delete.reopens',
];

function findingOf(id: ClaimId, values: Values, told: Told, played: Findable): Finding {
  const asked = values(ofClaim(ASKED, id));
  if (OF_DELETED.includes(id) && values(DELETES) > 0 && values(DELETES) === values(DECLINED))
    return unmeasured(DELETE_DECLINED);
  if (asked === 0)
    return unmeasured(
      'No evidence came to it: what it asks about did not happen, or the case was not played that far.',
    );
  if (id === 'identity.holds') return identityFinding(values, asked);
  if (READ_AT[id] !== undefined) return registryFinding(id, values, told, played);
  const [passes, fails] = [values(ofCheck(id), 'passes'), values(ofCheck(id), 'fails')];
  const unanswered = values(ofClaim(UNANSWERED, id));
  if (id === 'over-cap.exact') return exactFinding(values, told, asked, unanswered, played);
  if (id === 'abandon.alive-within-timeout') {
    const missing = missingAtRest(values);
    if (missing > 0) return failed('all still registered', `${missing} are not`, SAYS[id]);
  }
  if (fails > 0)
    return failed('every answer agrees', `${fails} of ${passes + fails} answers contradict it`, SAYS[id]);
  if (unanswered > 0) return unmeasured(`${unanswered} of ${asked} requests got no answer.`);
  if (passes === 0)
    return {
      ...unmeasured('The server does not offer what it is about (405), or another instance asked it.'),
      withdrawn: true,
    };
  const declared = id === 'abandon.bounded' && !told.isMeasured ? ' (declared, not measured)' : '';
  return {
    status: 'pass',
    expected: 'every answer agrees',
    observed: `${passes} of ${passes} agree${declared}`,
    reason: '',
  };
}

/** Open sessions that the registry does not have, where it was read: surely, whatever the uncertain openings did. */
function missingAtRest(values: Values): number {
  if (values(ofReading(READINGS, 'settle')) === 0) return 0;
  const missing = -values(ofReading(BEYOND, 'settle'));
  return missing > values(clientUncertain.name) ? missing : 0;
}

const failed = (expected: string, observed: string, says: string): Finding => ({
  status: 'fail',
  expected,
  observed,
  reason: `Not so, ${observed}: ${says}`,
});

function identityFinding(values: Values, readings: number): Finding {
  const drift = values(IDENTITY);
  const expected = 'identity drift 0';
  if (drift === 0)
    return { status: 'pass', expected, observed: `0 at each of ${readings} readings`, reason: '' };
  const reason =
    'The registry changed without a registration or removal that the probe saw: its counts cannot be trusted.';
  return { status: 'fail', expected, observed: `${drift} over ${readings} readings`, reason };
}

function registryFinding(
  id: ClaimId,
  values: Values,
  told: Told,
  { readings, mayExpire }: Findable,
): Finding {
  if (values(IDENTITY) !== 0) return unmeasured('The probe’s counts do not fit each other (identity.holds).');
  const read = readings.filter((reading) => READ_AT[id]?.includes(reading));
  const found = read.find((reading) => values(ofReading(BEYOND, reading)) > 0) ?? read[0] ?? '';
  const drift = values(ofReading(BEYOND, found));
  const registered = values(ofReading(REGISTERED, found), 'value');
  const remnants = Math.min(drift, values(ofReading(REMNANTS, found), 'value'));
  const expected = `${registered - drift} registered`;
  if (drift > 0)
    return {
      status: 'fail',
      expected,
      observed: `${registered} registered (${drift} kept, ${remnants} remnants)`,
      reason: `${drift} registry entries are kept that should be gone, ${remnants} of them remnants whose transport has ended.`,
    };
  if (drift < 0 && !mayExpire)
    return unmeasured(
      `${-drift} sessions that should be registered are not: the counts do not fit what was played.`,
    );
  const unanswered = told.strangers > 0 ? 0 : values(ofClaim(UNANSWERED, id));
  if (unanswered > 0)
    return unmeasured(
      `${unanswered} openings or DELETEs got no answer: if they did nothing, as many kept sessions stay unseen.`,
    );
  const hidden = mayExpire ? values(ofReading(UNEXPIRED, found)) : 0;
  if (hidden > 0)
    return unmeasured(
      `${hidden} of the sessions that are registered are more than DELETEs and expirations leave: they may be kept behind as many that expired.`,
    );
  if (told.strangers > 0)
    return unmeasured(
      `${told.strangers} sessions were registered before: if they end meanwhile, as many kept ones stay unseen. Measure the server while nobody else uses it.`,
    );
  return { status: 'pass', expected, observed: `${registered} registered`, reason: '' };
}

function exactFinding(
  values: Values,
  told: Told,
  asked: number,
  unanswered: number,
  { readings }: Findable,
): Finding {
  if (unanswered > 0) return unmeasured(`${unanswered} of ${asked} racing openings got no answer.`);
  const over = values(RACE);
  const most = Math.max(0, ...readings.map((reading) => values(ofReading(REGISTERED, reading), 'max')));
  const cap = told.settings.maxSessions ?? Infinity;
  const expected = 'as many let in as there was room, never more than the cap registered';
  const counted = readings.length === 0 ? '' : `, at most ${most} registered`;
  const observed = `${Math.abs(over)} too ${over < 0 ? 'few' : 'many'} of ${asked} let in${counted}`;
  if (over > 0 || most > cap)
    return { status: 'fail', expected, observed, reason: `Racing openings get past the cap: ${observed}.` };
  if (over < 0)
    return {
      status: 'fail',
      expected,
      observed,
      reason: `Openings are refused although there was room: ${observed}.`,
    };
  return { status: 'pass', expected, observed, reason: '' };
}
