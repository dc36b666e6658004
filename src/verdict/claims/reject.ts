import { AGREES } from '../../cases/claims.ts';
import type { OpRecord } from '../../recording/schema.ts';
import { defineClaim } from '../claim.ts';
import { fail, of } from '../finding.ts';
import { judgeRetained, judgeSteps, kindOfKept } from './shared.ts';

/** Kinds of refused openings, the first few by name. */
function kinds(ops: readonly OpRecord[]): string {
  const names = [...new Set(ops.map((op) => (op.kind ?? '?').replace(/^(GET|POST) after /, '')))];
  const more = names.length - FEW;
  return names.slice(0, FEW).join(', ') + (more > 0 ? ` and ${more} more kinds` : '');
}

const FEW = 4;

const methods = (ops: readonly OpRecord[]): string =>
  [...new Set(ops.map((op) => op.kind?.split(' ')[0] ?? '?'))].sort().join(' and ');

export const rejectRefused = defineClaim('reject.refused', {
  needs: [],
  judge: (evidence) =>
    judgeSteps(evidence, evidence.ops('refuse'), AGREES['reject.refused'], {
      expected: '4xx',
      noun: 'refused openings',
      missing: 'No refused opening was sent',
      reason: (bad) => `Openings that must be refused were not (${kinds(bad)}).`,
    }),
});

export const rejectRegistersNothing = defineClaim('reject.registers-nothing', {
  needs: ['probe'],
  judge: (evidence) => {
    const strict = evidence.settled('settle');
    const until = strict?.t ?? 0;
    const refused = evidence.ops('refuse').filter((op) => op.t <= until && op.outcome === 'refused').length;
    const finding = judgeRetained(
      evidence,
      strict,
      refused,
      'refused openings',
      (kept, remnants) => `A refusal leaves its session behind: ${kept} kept, ${kindOfKept(kept, remnants)}.`,
    );
    const all = evidence.settled('settle-apart');
    if (finding.status !== 'pass' || !all) return finding;
    // What a lenient server opened was deleted again: that is the delete case's matter, not a refusal's.
    const later = evidence.ops('refuse', 'apart');
    const kept = all.retentionDrift - later.filter((op) => op.outcome === 'ok').length;
    if (kept <= 0) return finding;
    return fail(
      `${all.expected.max} registered`,
      `${all.registered} registered (${of(kept, later.length, 'refused openings')} kept)`,
      `A refusal leaves its session behind (one of ${kinds(later)}): ${kept} kept.`,
    );
  },
});

export const rejectIdUnusable = defineClaim('reject.id-unusable', {
  needs: [],
  judge: (evidence) => {
    const used = evidence.ops('reuse-echoed');
    const echoed = used.filter((op) => op.outcome !== 'local');
    if (used.length > 0 && echoed.length === 0)
      return { status: 'pass', expected: 'no usable id', observed: 'no refusal echoed an id', reason: '' };
    return judgeSteps(evidence, echoed, AGREES['reject.id-unusable'], {
      expected: '404 (or another 4xx)',
      noun: 'requests with an echoed id',
      missing: 'No echoed id was used',
      reason: (bad) => `The id that a refusal echoed can do work, by ${methods(bad)} (${kinds(bad)}).`,
    });
  },
});
