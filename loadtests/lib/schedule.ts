/**
 * Who plays what, when. Virtual users share no state, so every session belongs to one of them for good, and a plan
 * that resumes a session is played by the one that holds it. Stages follow each other by counts, not by a clock: an
 * iteration begins when as many have been completed as its gate says.
 */
import { planOf, type CaseSettings, type PlayStage, type Size, type Stage } from '../../src/cases/case.ts';

/** What is played besides a case's own stages: each virtual user deletes what it still holds. */
export interface CloseStage {
  readonly kind: 'close';
  readonly name: string;
}

export type Lane = Stage | CloseStage;

export interface Item {
  readonly lane: Lane;
  readonly index: number;
  /** Iterations of this instance that must be completed before this one begins. */
  readonly gate: number;
}

/** Which of `count` equal instances this is, from 0. */
export interface Share {
  readonly instance: number;
  readonly count: number;
}

export const WHOLE: Share = { instance: 0, count: 1 };

/**
 * @param segment such as `1/3:2/3`
 * @param sequence where all segments begin and end, such as `0,1/3,2/3,1`: k6 deals virtual users out by it
 * @throws Error with one sentence where they are not equal shares
 */
export function shareOf(segment: string | null | undefined, sequence?: string | null): Share {
  if (segment == null || segment === '') return WHOLE;
  const share = shareOfSegment(segment);
  const ends = sequence == null || sequence === '' ? [] : sequence.split(',').map(fraction);
  const isEven = ends.every((end, i) => Math.abs(end - i / share.count) < 1e-6);
  if (isEven && (ends.length === 0 || ends.length === share.count + 1)) return share;
  throw new Error(UNEQUAL);
}

const UNEQUAL = 'the execution segment is no equal share of the whole: let every instance have as much.';

function shareOfSegment(segment: string): Share {
  const [from = '0', to = '1'] = segment.includes(':') ? segment.split(':') : ['0', segment];
  const [start, end] = [fraction(from), fraction(to)];
  const count = Math.round(1 / (end - start));
  const instance = Math.round(start * count);
  const near = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6;
  if (near(end - start, 1 / count) && near(start, instance / count)) return { instance, count };
  throw new Error(UNEQUAL);
}

const fraction = (value: string): number => {
  const [part = '0', whole = '1'] = value.split('/');
  return Number(part) / Number(whole);
};

export interface Schedule {
  readonly lanes: readonly Lane[];
  readonly vus: number;
  /** Iterations of each virtual user: those that have less to do wait for the others at the end. */
  readonly iterations: number;
  /** What user `vu` (from 0) plays, in its order. */
  itemsOf(vu: number, share: Share): readonly Item[];
  /** Whether any plan goes on with a session of another stage. */
  readonly resumes: boolean;
  /** How many iterations of an instance play something: what lies beyond waits for all of them. */
  totalOf(share: Share): number;
}

/** What a case's stages are made of: how much is asked for, and how the server is set. */
export interface Asked {
  readonly seed: number;
  readonly size: Size;
  readonly settings: CaseSettings;
}

export function scheduleOf(stages: readonly Stage[], { seed, size }: Asked): Schedule {
  const lanes: Lane[] = stages.flatMap((stage) => [
    stage,
    // What a flood let in is closed when it is over, so that no place is given twice.
    ...(stage.kind === 'flood' ? [{ kind: 'close', name: `${stage.name}-close` } as const] : []),
  ]);
  lanes.push({ kind: 'close', name: 'clean-up' });
  const vus = Math.max(size.concurrency, ...stages.map(concurrencyOf));
  const owners = lanes.map((lane) => ownersOf(lane, lanes, vus, seed));
  const perVu = Array.from({ length: vus }, (_, vu) => total(owners.map((owner) => owner.countOf(vu))));
  return {
    lanes,
    vus,
    iterations: Math.max(...perVu),
    resumes: lanes.some((lane) => resumes(lane, seed)),
    itemsOf: (vu, share) => itemsOf(vu, share, { lanes, owners, vus }),
    totalOf: (share) => total(usersOf(share, vus).map((vu) => perVu[vu] ?? 0)),
  };
}

const usersOf = ({ instance, count }: Share, vus: number): number[] =>
  Array.from({ length: vus }, (_, vu) => vu).filter((vu) => vu % count === instance);

const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

function concurrencyOf(stage: Stage): number {
  if (stage.kind === 'play') return Math.min(stage.concurrency, stage.sessions);
  return stage.kind === 'flood' ? stage.connections : 1;
}

interface Owners {
  /** How many of a lane's plans a user plays. */
  countOf(vu: number): number;
  /** Their numbers, ascending. */
  indexesOf(vu: number): readonly number[];
}

const resumes = (lane: Lane, seed: number): boolean =>
  lane.kind === 'play' && planOf(lane, seed, 0)[0]?.do === 'resume';

function ownersOf(lane: Lane, lanes: readonly Lane[], vus: number, seed: number): Owners {
  if (lane.kind === 'play' && resumes(lane, seed))
    return listed(Array.from({ length: lane.sessions }, (_, i) => ownerOf(lane, i, lanes, vus, seed)));
  const count = lane.kind === 'play' ? lane.sessions : lane.kind === 'flood' ? lane.amount : vus;
  const countOf = (vu: number): number => Math.max(0, Math.ceil((count - vu) / vus));
  return { countOf, indexesOf: (vu) => Array.from({ length: countOf(vu) }, (_, n) => vu + n * vus) };
}

const listed = (owners: readonly number[]): Owners => {
  const indexesOf = (vu: number): number[] => owners.flatMap((owner, i) => (owner === vu ? [i] : []));
  return { indexesOf, countOf: (vu) => indexesOf(vu).length };
};

/** The user that holds the session which a plan resumes. */
function ownerOf(stage: PlayStage, index: number, lanes: readonly Lane[], vus: number, seed: number): number {
  const first = planOf(stage, seed, index)[0];
  if (first?.do !== 'resume') return index % vus;
  const from = lanes.find((lane) => lane.name === first.stage);
  return from?.kind === 'play' ? ownerOf(from, first.index, lanes, vus, seed) : first.index % vus;
}

interface Parts {
  readonly lanes: readonly Lane[];
  readonly owners: readonly Owners[];
  readonly vus: number;
}

function itemsOf(vu: number, share: Share, { lanes, owners, vus }: Parts): Item[] {
  const here = usersOf(share, vus);
  let before = 0;
  const items: Item[] = [];
  lanes.forEach((lane, at) => {
    const owner = owners[at];
    if (owner === undefined) return;
    const most = lane.kind === 'play' || lane.kind === 'flood' ? concurrencyOf(lane) : vus;
    const rank = most < vus ? ranksOf(owner, here) : null;
    for (const index of owner.indexesOf(vu)) {
      // No more than `most` at a time: all but that many before this one are over.
      const behind = rank === null ? 0 : Math.max(0, (rank.get(index) ?? 0) - most + 1);
      items.push({ lane, index, gate: before + behind });
    }
    before += total(here.map((user) => owner.countOf(user)));
  });
  return items;
}

/** The position of each of a lane's plans among those that this instance plays. */
function ranksOf(owner: Owners, here: readonly number[]): Map<number, number> {
  const indexes = here.flatMap((user) => owner.indexesOf(user)).sort((a, b) => a - b);
  return new Map(indexes.map((index, rank) => [index, rank]));
}
