import { AGREES } from '../../cases/claims.ts';
import { defineClaim } from '../claim.ts';
import { DEFAULT_IDLE_MAX_SECONDS } from '../../ledger/ledger.ts';
import type { Evidence } from '../evidence.ts';
import { fail, pass, unmeasured, type Finding } from '../finding.ts';
import { judgeRetained, judgeSteps, pingsWithinTimeout } from './shared.ts';

function aliveWithin(evidence: Evidence, stage: string): Finding {
  return judgeSteps(evidence, pingsWithinTimeout(evidence, stage), AGREES['abandon.alive-within-timeout'], {
    expected: '200',
    noun: 'pings within the idle timeout',
    missing: 'No ping reached an abandoned session within its idle timeout (the machine was too slow?)',
    reason: () => 'Sessions are gone before their idle timeout: clients lose work.',
  });
}

export const abandonAlive = defineClaim('abandon.alive-within-timeout', {
  needs: [],
  judge: (evidence) => {
    const lost = -(evidence.settled('settle')?.retentionDrift ?? 0);
    if (lost > 0 && evidence.distrust === null)
      return fail(
        'all still registered',
        `${lost} are not`,
        'Abandoned sessions leave the registry before their idle timeout: clients lose work.',
      );
    return aliveWithin(evidence, 'alive');
  },
});

const describe = (idle: number | null | undefined, cap: number | null | undefined): string =>
  `idle timeout ${idle == null ? 'none' : `${idle} s`}, cap ${cap ?? 'none'}`;

export const abandonBounded = defineClaim('abandon.bounded', {
  needs: ['known-settings'],
  judge: ({ idleTimeoutSeconds: idle, sessionLimit: cap, policy, counts }) => {
    if (idle === undefined && cap === undefined)
      return unmeasured('Neither a probe nor the configuration tells the idle timeout and the cap.');
    const { idleMaxSeconds: idleMax, maxSessions } = policy;
    const wanted =
      idleMax === null && maxSessions === null
        ? 'an idle timeout or a cap'
        : `idle timeout at most ${idleMax ?? '∞'} s, cap at most ${maxSessions ?? '∞'}`;
    const observed = describe(idle, cap) + (counts.length > 0 ? '' : ' (declared, not measured)');
    if (idle == null && cap == null)
      return fail(
        wanted,
        observed,
        'Nothing ever ends an abandoned session: neither expiry nor cap is in force by default.',
      );
    if (idleMax !== null && (idle ?? Infinity) > idleMax)
      return fail(wanted, observed, `Sessions idle longer than the policy's ${idleMax} s are kept.`);
    if (maxSessions !== null && (cap ?? Infinity) > maxSessions)
      return fail(wanted, observed, `More sessions than the policy's ${maxSessions} are let in.`);
    return pass(wanted, observed);
  },
});

export const expiryAliveBefore = defineClaim('abandon-expiry.alive-before', {
  needs: [],
  judge: (evidence) => aliveWithin(evidence, 'before'),
});

export const expiryReclaimed = defineClaim('abandon-expiry.reclaimed', {
  needs: ['probe'],
  judge: (evidence) =>
    judgeRetained(
      evidence,
      evidence.settled('expiry'),
      evidence.ledger.abandoned,
      'abandoned sessions',
      (kept) =>
        `${kept} abandoned sessions outlive the idle timeout of ${evidence.idleTimeoutSeconds ?? '?'} s.`,
    ),
});

export const expiryIdRefused = defineClaim('abandon-expiry.id-refused', {
  needs: [],
  judge: (evidence) => {
    const timeout = (evidence.idleTimeoutSeconds ?? DEFAULT_IDLE_MAX_SECONDS) * 1000;
    const late = evidence.ops('ping', 'ids').filter((op) => (evidence.idleBefore(op) ?? 0) > timeout);
    return judgeSteps(evidence, late, AGREES['abandon-expiry.id-refused'], {
      expected: '404 (or another 4xx)',
      noun: 'requests with an expired id',
      missing: 'No expired id was used',
      reason: () => 'The id of an expired session can still do work, or makes the server fail.',
    });
  },
});
