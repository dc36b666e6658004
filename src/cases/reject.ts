import { REFUSALS } from '../protocol/refusals.ts';
import { defineCase, play, settle, warmUp } from './case.ts';
import { refuse, reuseEchoed } from './steps.ts';

const STRICT = REFUSALS.filter((refusal) => !refusal.lenient).map((refusal) => refusal.kind);
/** Kinds that a server may by right accept: played apart, so that what they open does not blur the count. */
const LENIENT = REFUSALS.filter((refusal) => refusal.lenient).map((refusal) => refusal.kind);

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
    const load = play('load', 'load', size.sessions, size.concurrency, ({ index }) => inTurn(STRICT, index));
    return [
      warmUp(load, size.warmUp),
      load,
      settle(),
      play('lenient', 'after', LENIENT.length * 2, 4, ({ index }) => inTurn(LENIENT, index)),
      settle('settle-lenient'),
    ];
  },
  claims: ['reject.refused', 'reject.registers-nothing', 'reject.id-unusable'],
});
