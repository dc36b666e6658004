import { SESSION_ID_HEADER } from '../protocol/http.ts';
import { REFUSALS, type Method, type Refusal } from '../protocol/refusals.ts';
import { defineCase, play, settle, warmUp } from './case.ts';
import { refuse, reuseEchoed } from './steps.ts';

/**
 * Played apart, so that they do not blur the count: kinds that a server may by right accept, and so open, and
 * requests that bear a session id, and so are no openings.
 */
const isApart = (refusal: Refusal): boolean => refusal.lenient || SESSION_ID_HEADER in refusal.headers;
/** Openings that every transport must refuse, by kind. */
export const OPENINGS: readonly string[] = REFUSALS.filter((refusal) => !isApart(refusal)).map(
  (refusal) => refusal.kind,
);
/** The HTTP method by which a kind of refused opening comes. */
export const methodOf = (kind: string): Method =>
  REFUSALS.find((refusal) => refusal.kind === kind)?.method ?? 'POST';
const APART = REFUSALS.filter(isApart).map((refusal) => refusal.kind);

const inTurn = (kinds: readonly string[], index: number) => [
  refuse(kinds[index % kinds.length] ?? ''),
  reuseEchoed('POST'),
  reuseEchoed('GET'),
];

/** Openings that the transport must refuse: affected builds registered a live session for each. */
export const rejectCase = defineCase({
  id: 'reject',
  title: 'Openings that must be refused, every kind in turn',
  settings: {},
  size: { sessions: 300, warmUp: 40, concurrency: 8 },
  stages: ({ size }) => {
    const load = play('load', 'load', size.sessions, size.concurrency, ({ index }) =>
      inTurn(OPENINGS, index),
    );
    return [
      warmUp(load, size.warmUp),
      load,
      settle(),
      play('apart', 'after', APART.length * 2, 4, ({ index }) => inTurn(APART, index)),
      settle('settle-apart'),
    ];
  },
  claims: ['reject.refused', 'reject.registers-nothing', 'reject.id-unusable'],
});
