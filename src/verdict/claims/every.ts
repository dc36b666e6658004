import { declinesDelete } from '../../cases/obstacles.ts';
import type { OpRecord } from '../../recording/schema.ts';
import { defineClaim } from '../claim.ts';
import { fail, pass, unmeasured } from '../finding.ts';
import { missing } from './shared.ts';

export const identityHolds = defineClaim('identity.holds', {
  needs: ['probe'],
  judge: (evidence) => {
    const { counts, unsupportedSamples } = evidence;
    if (unsupportedSamples > 0)
      return unmeasured(
        `The probe does not know this SDK or met an error in ${unsupportedSamples} samples: see the notices.`,
      );
    if (counts.length === 0) return missing(evidence, 'The probe gave no counts');
    const expected = 'identity drift 0';
    const broken = counts.filter((count) => count.identityDrift !== 0);
    const worst = broken.reduce(
      (max, c) => (Math.abs(c.identityDrift) > Math.abs(max) ? c.identityDrift : max),
      0,
    );
    if (broken.length === 0 && evidence.distrust !== null) return unmeasured(evidence.distrust);
    if (broken.length === 0) return pass(expected, `0 at each of ${counts.length} samples`);
    return fail(
      expected,
      `up to ${worst} at ${broken.length} of ${counts.length} samples`,
      'The registry changed without a registration or removal that the probe saw: its counts cannot be trusted.',
    );
  },
});

export const servesAfter = defineClaim('survival.serves-after', {
  needs: [],
  judge: (evidence) => {
    const expected = 'a fresh session is served';
    if (evidence.death) {
      const { reason, killed } = evidence.death;
      if (killed) return unmeasured(`The server was killed from outside: ${reason}`);
      return fail(expected, 'the server is gone', `The server died under the case: ${reason}`);
    }
    const ops = evidence.events.ops.filter((op) => op.stage === 'survival');
    const unsent = (op: OpRecord): boolean => op.step === 'open' && op.outcome === 'local';
    const isBad = (op: OpRecord): boolean =>
      op.outcome === 'broken' || unsent(op) || (op.outcome === 'refused' && !declinesDelete(op));
    const bad = ops.find(isBad);
    if (bad) {
      const answer = bad.status === undefined ? 'no answer' : `HTTP ${bad.status}`;
      return fail(
        expected,
        `${bad.step}: ${answer}`,
        `After the case the server no longer serves: ${bad.step} got ${answer}${bad.note ? ` (${bad.note})` : ''}.`,
      );
    }
    if (!ops.some((op) => op.step === 'open' && op.outcome === 'ok'))
      return missing(evidence, 'No session was opened after the case');
    return pass(expected, 'opened, called, closed');
  },
});
