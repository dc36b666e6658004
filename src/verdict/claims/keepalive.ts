import { AGREES } from '../../cases/claims.ts';
import { defineClaim } from '../claim.ts';
import { fail, of, pass, unmeasured, withdrawn } from '../finding.ts';
import { answers, judgeRetained, judgeSteps, missing } from './shared.ts';

export const keepaliveStream = defineClaim('keepalive.stream-survives', {
  needs: [],
  judge: (evidence) => {
    const streams = evidence.ops('stream', 'load');
    const opened = streams.filter((op) => op.outcome === 'ok');
    if (streams.length > 0 && streams.every((op) => op.status === 405))
      return withdrawn('The server offers no event stream (405), which the specification allows.');
    if (opened.length === 0) return missing(evidence, `No stream was opened (${answers(streams)})`);
    const sessions = new Set(opened.map((op) => op.session));
    // `ok` is a stream that ended with the session's own DELETE, `local` one that we closed.
    const ended = evidence
      .ops('stream-end')
      .filter((op) => sessions.has(op.session) && (op.outcome === 'refused' || op.outcome === 'broken'));
    const pings = evidence.ops('ping', 'load').filter((op) => sessions.has(op.session));
    const lost = new Set(
      [...ended, ...pings.filter((op) => op.outcome === 'refused')].map((op) => op.session),
    );
    const expected = 'stream open and ping 200 after three idle timeouts';
    if (lost.size > 0)
      return fail(
        expected,
        `${of(lost.size, opened.length, 'sessions lost')}; pings: ${answers(pings)}`,
        'Sessions with a quiet open stream are expired: idleness is counted from arrival, not from the last request in flight.',
      );
    if (pings.length < opened.length) return missing(evidence, 'Not every stream was kept long enough');
    if (pings.some((op) => op.outcome === 'broken'))
      return unmeasured('Pings beside the stream got no answer.');
    return pass(expected, `${opened.length} streams open; pings: ${answers(pings)}`);
  },
});

export const keepaliveCall = defineClaim('keepalive.call-completes', {
  needs: [],
  judge: (evidence) => {
    const calls = evidence.ops('sleep', 'load');
    const asked = calls.filter((op) => op.outcome !== 'local');
    if (calls.length > 0 && asked.length === 0)
      return withdrawn(
        `The server offers no slow tool: name one under tools.slow (${calls[0]?.note ?? 'no tool'}).`,
      );
    const broken = asked.filter((op) => op.outcome === 'broken');
    // A connection that ends without the result is a killed call, not an uncertain one: nothing else was asked.
    if (broken.length > 0 && !evidence.death)
      return fail(
        'the result of the call',
        `${of(broken.length, asked.length, 'calls')} ended without a result`,
        'Running calls are killed at the idle timeout.',
      );
    return judgeSteps(evidence, asked, AGREES['keepalive.call-completes'], {
      expected: 'the result of the call',
      noun: 'calls of three idle timeouts',
      missing: 'No long call was made',
      reason: () => 'Running calls are killed at the idle timeout.',
    });
  },
});

export const keepaliveExpires = defineClaim('keepalive.expires-after', {
  needs: ['probe'],
  judge: (evidence) =>
    judgeRetained(
      evidence,
      evidence.settled('expiry'),
      evidence.ledger.abandoned,
      'sessions',
      (kept) => `${kept} sessions outlive the idle timeout after their stream or call was over.`,
    ),
});
