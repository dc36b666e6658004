import { AGREES } from '../../cases/claims.ts';
import { declinesDelete, DELETE_DECLINED } from '../../cases/obstacles.ts';
import type { OpRecord } from '../../recording/schema.ts';
import { defineClaim } from '../claim.ts';
import type { Evidence } from '../evidence.ts';
import { unmeasured, type Finding } from '../finding.ts';
import { judgeRetained, judgeSteps, kindOfKept } from './shared.ts';

const accepted = AGREES['delete.accepted'];

function declined(evidence: Evidence): Finding | null {
  const deletes = evidence.ops('delete');
  if (deletes.length === 0 || !deletes.every(declinesDelete)) return null;
  return unmeasured(DELETE_DECLINED);
}

export const deleteAccepted = defineClaim('delete.accepted', {
  needs: [],
  judge: (evidence) =>
    judgeSteps(evidence, evidence.ops('delete'), accepted, {
      expected: '2xx',
      noun: 'DELETEs',
      missing: 'No DELETE was sent',
      reason: (bad) =>
        bad.every(declinesDelete)
          ? 'The server declines DELETE (405). The specification allows it; sessions then end by expiry alone.'
          : 'The server did not accept the DELETE of live sessions.',
    }),
});

export const deleteDeregisters = defineClaim('delete.deregisters', {
  needs: ['probe'],
  judge: (evidence) => {
    const load = evidence.settled('settle');
    const after = evidence.settled('settle-after');
    // The later count sees sessions that were deleted twice or reopened; the earlier one gives the plain number.
    const count = load && load.retentionDrift > 0 ? load : (after ?? load);
    const until = count?.t ?? 0;
    const deleted = evidence.ops('delete').filter((op) => accepted(op) && op.t <= until).length;
    return (
      declined(evidence) ??
      judgeRetained(
        evidence,
        count,
        deleted,
        'deleted sessions',
        (kept, remnants) =>
          `DELETE ends the session and keeps ${kept} registry entries, ${kindOfKept(kept, remnants)}.`,
      )
    );
  },
});

/** Uses of ids whose own DELETE was accepted: one that broke may not have ended anything. */
function reused(evidence: Evidence, ...methods: string[]): OpRecord[] {
  const ended = new Set(
    evidence
      .ops('delete')
      .filter(accepted)
      .map((op) => op.session),
  );
  return evidence.ops('reuse').filter((op) => methods.includes(op.kind ?? '') && ended.has(op.session));
}

export const deleteIdRefused = defineClaim('delete.id-refused', {
  needs: [],
  judge: (evidence) =>
    declined(evidence) ??
    judgeSteps(evidence, reused(evidence, 'POST', 'GET'), AGREES['delete.id-refused'], {
      expected: '404 (or another 4xx)',
      noun: 'requests with a deleted id',
      missing: 'No deleted id was used again',
      reason: () => 'The id of a deleted session can still do work.',
    }),
});

export const deleteRepeatSettles = defineClaim('delete.repeat-settles', {
  needs: [],
  judge: (evidence) =>
    declined(evidence) ??
    judgeSteps(evidence, reused(evidence, 'DELETE'), AGREES['delete.repeat-settles'], {
      expected: '404, another 4xx, or 2xx',
      noun: 'second DELETEs',
      missing: 'No DELETE was repeated',
      reason: () => 'A repeated DELETE makes the server fail.',
    }),
});

export const deleteReopens = defineClaim('delete.reopens', {
  needs: [],
  judge: (evidence) =>
    declined(evidence) ??
    judgeSteps(
      evidence,
      evidence.ops('open', 'after').filter((op) => op.session.endsWith('/2')),
      AGREES['delete.reopens'],
      {
        expected: '200 with a new id',
        noun: 'openings after DELETE',
        missing: 'No session was opened after DELETE',
        reason: (bad) =>
          bad.some((op) => op.fresh === false)
            ? 'A new session gets the id of the one that was deleted.'
            : 'A client that has deleted its session is refused a new one.',
      },
    ),
});

export const deleteExpiryReclaimed = defineClaim('delete-expiry.reclaimed', {
  needs: ['probe'],
  judge: (evidence) =>
    declined(evidence) ??
    judgeRetained(
      evidence,
      evidence.settled('expiry'),
      evidence.ledger.deleted,
      'deleted sessions',
      (kept, remnants) =>
        `Idle expiry does not reclaim deleted sessions: ${kept} entries stay, ${kindOfKept(kept, remnants)}.`,
    ),
});
