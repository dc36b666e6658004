import { AGREES } from '../../cases/claims.ts';
import type { OpRecord } from '../../recording/schema.ts';
import { defineClaim } from '../claim.ts';
import type { Evidence } from '../evidence.ts';
import { fail, of, pass, unmeasured } from '../finding.ts';
import { answers, judgeSteps, missing, pingsWithinTimeout } from './shared.ts';

const NO_CAP = 'This build has no session cap';

const admitted = (ops: readonly OpRecord[]): OpRecord[] => ops.filter((op) => op.outcome === 'ok');

const floodAdmitted = (evidence: Evidence): number =>
  evidence.events.floods.reduce((total, flood) => total + flood.admitted, 0);

export const overCapRefuses = defineClaim('over-cap.refuses', {
  needs: [],
  judge: (evidence) => {
    const beyond = evidence.ops('open', 'beyond');
    const [flood] = evidence.events.floods;
    if (beyond.length === 0) return missing(evidence, 'No opening beyond the cap was tried');
    const expected = `0 of ${beyond.length + (flood?.sent ?? 0)} openings beyond the cap let in`;
    const over = admitted(beyond).length + (flood ? floodAdmitted(evidence) : 0);
    if (over > 0) {
      const why = evidence.arm.lacks.includes('maxSessions') ? NO_CAP : 'Openings over the cap are let in';
      return fail(
        expected,
        of(over, beyond.length + (flood?.sent ?? 0), 'let in'),
        `${why}: ${over} were let in beyond it.`,
      );
    }
    const broken = beyond.filter((op) => op.outcome === 'broken').length + (flood?.broken ?? 0);
    if (broken > 0) return unmeasured(`${broken} openings beyond the cap got no answer.`);
    if (!flood) return missing(evidence, 'The full server was not flooded');
    return pass(
      expected,
      `${answers(beyond)}; flood: ${Object.keys(flood.statuses).join(', ')} × ${flood.sent}`,
    );
  },
});

export const overCapExact = defineClaim('over-cap.exact', {
  needs: ['cap'],
  judge: (evidence) => {
    const race = evidence.ops('open', 'race');
    const freed = evidence.ops('delete', 'make-room').filter((op) => op.outcome === 'ok').length;
    if (race.length === 0 || freed === 0) return missing(evidence, 'The race was not played');
    const broken = race.filter((op) => op.outcome === 'broken').length;
    if (broken > 0) return unmeasured(`${broken} of ${race.length} racing openings got no answer.`);
    const expected = `${freed} of ${race.length} let in, never more than the cap registered`;
    const won = admitted(race).length;
    const cap = evidence.sessionLimit ?? evidence.arm.settings.maxSessions ?? Infinity;
    const most =
      evidence.distrust === null
        ? evidence.counts.reduce((highest, count) => Math.max(highest, count.registered), 0)
        : 0;
    const observed = `${of(won, race.length, 'let in')}, at most ${most} registered`;
    if (won > freed || most > cap) return fail(expected, observed, 'Racing openings get past the cap.');
    if (won < freed) return fail(expected, observed, 'Openings are refused although there was room.');
    return pass(expected, observed);
  },
});

export const overCapEvictsNone = defineClaim('over-cap.evicts-none', {
  needs: ['cap'],
  judge: (evidence) =>
    judgeSteps(evidence, pingsWithinTimeout(evidence, 'kept'), AGREES['over-cap.evicts-none'], {
      expected: '200',
      noun: 'pings on sessions that were open before',
      missing: 'No open session was asked within its idle timeout',
      reason: () => 'Open sessions were ended to make room for others.',
    }),
});

export const overCapRoomReturns = defineClaim('over-cap.room-returns', {
  needs: ['cap'],
  judge: (evidence) =>
    judgeSteps(evidence, evidence.ops('open', 'room'), AGREES['over-cap.room-returns'], {
      expected: '200 with a new id',
      noun: 'openings after a DELETE',
      missing: 'No opening was tried after a DELETE',
      reason: () => 'A place that a DELETE freed is not given again.',
    }),
});
