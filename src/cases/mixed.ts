/**
 * The mixed workload of `load`: which kind of session arrives when, and its steps. Pure functions of seed and
 * index, so that every target and every runtime plays the same; k6 loads this file too.
 */
import { pick, type Pick } from './pick.ts';
import { OPENINGS } from './reject.ts';
import { call, del, drop, initialized, open, refuse, stream, wait, type Step } from './steps.ts';

export const KINDS = ['delete', 'abandon', 'reject', 'keep-alive', 'over-cap'] as const;
export type Kind = (typeof KINDS)[number];

/** Shares of the kinds, in proportion to each other; a kind that is absent does not arrive. */
export type Mix = Readonly<Partial<Record<Kind, number>>>;

export const DEFAULT_MIX: Mix = { delete: 60, abandon: 20, reject: 10, 'keep-alive': 8, 'over-cap': 2 };

/** Reads shares such as `delete=60,abandon=20`. @throws Error with one sentence that says what is wrong with them */
export function parseMix(text: string): Mix {
  const shares = new Map<Kind, number>();
  for (const part of text.split(',')) {
    const [name = '', value = ''] = part.split('=').map((side) => side.trim());
    const kind = KINDS.find((known) => known === name);
    if (kind === undefined)
      throw new Error(`there is no kind ${name || 'without a name'}: known are ${KINDS.join(', ')}.`);
    if (shares.has(kind)) throw new Error(`${kind} stands twice: give its share once.`);
    if (!/^\d+(\.\d+)?$/.test(value) || Number(value) <= 0)
      throw new Error(`the share of ${kind} must be a positive number, as in ${kind}=10.`);
    shares.set(kind, Number(value));
  }
  return Object.fromEntries(shares);
}

/** What arrives at one moment: the plans of its sessions, all begun at once. */
export interface Arrival {
  readonly index: number;
  readonly kind: Kind;
  readonly plans: readonly (readonly Step[])[];
}

/** Openings that come at once, so that a cap is met where it is near. */
const BURST = 5;
const HELD_SECONDS = 1;
/** A quiet time on an open stream, before a call and after it. */
const QUIET_SECONDS = 2;

/** Draws are made of this many equal parts. */
const PARTS = 1_000_000;
const share = (draw: Pick): number => draw.int(PARTS) / PARTS;

const PLANS: { readonly [K in Kind]: (draw: Pick) => Arrival['plans'] } = {
  delete: (draw) => [[open(), initialized(), call(draw.text()), del()]],
  abandon: (draw) => [[open(), initialized(), call(draw.text()), drop()]],
  reject: (draw) => [[refuse(OPENINGS[draw.int(OPENINGS.length)] ?? '')]],
  'keep-alive': (draw) => {
    const quiet = wait({ seconds: QUIET_SECONDS });
    return [[open(), initialized(), stream(), quiet, call(draw.text()), quiet, call(draw.text()), del()]];
  },
  'over-cap': () =>
    Array.from({ length: BURST }, () => [open(), initialized(), wait({ seconds: HELD_SECONDS }), del()]),
};

/** The kind and the plans of arrival `index`, from 0. */
export function planOfArrival(seed: number, index: number, mix: Mix = DEFAULT_MIX): Arrival {
  const kind = kindOf(share(pick(seed, 'mix', index)), mix);
  return { index, kind, plans: PLANS[kind](pick(seed, kind, index)) };
}

/** Seconds from the beginning to arrival `index`: one in each `1 / rate` seconds, anywhere within them. */
export function arrivalSeconds(seed: number, index: number, rate: number): number {
  return (index + share(pick(seed, 'arrival', index))) / rate;
}

/** @param at where in the whole of the shares, in [0, 1) */
function kindOf(at: number, mix: Mix): Kind {
  const present = KINDS.filter((kind) => (mix[kind] ?? 0) > 0);
  let left = at * present.reduce((sum, kind) => sum + (mix[kind] ?? 0), 0);
  const found = present.find((kind) => (left -= mix[kind] ?? 0) < 0) ?? present.at(-1);
  if (found === undefined) throw new Error('a mix without any kind');
  return found;
}
