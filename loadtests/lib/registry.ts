/** The registry as METRICS tells it: read until it has come to rest, and turned into k6's metrics. */
import http from 'k6/http';
import type { ClaimId } from '../../src/cases/claims.ts';
import { DEFAULT_SLACK_MS } from '../../src/ledger/policy.ts';
import { haveRead, leftUnanswered } from './checks.ts';
import { READ_AT } from './claims.ts';
import { beyond, identity, isOpening, readings, registered, remnants, unexpired, type Op } from './ledger.ts';
import { readPage, type Counted } from './metrics-page.ts';
import type { ScriptOptions } from './options.ts';
import { delay } from './player.ts';

/** Counts that stayed the same for this long have come to rest. */
const REST_MS = 400;
const LONGEST_REST_MS = 3000;
const LOOK_EVERY_SECONDS = 0.1;

type Source = Pick<ScriptOptions, 'metrics' | 'targetName' | 'isNamed'>;

/** What is registered now; null where METRICS is not set. @throws Error with one sentence where it does not tell */
export async function count({ metrics, targetName, isNamed }: Source): Promise<Counted | null> {
  if (metrics === null) return null;
  const page = await http.asyncRequest('GET', metrics, null, {
    responseType: 'text',
    tags: { name: 'metrics' },
  });
  if (page.status !== 200) {
    const answer = page.status === 0 ? 'does not answer' : `answers HTTP ${page.status}`;
    throw new Error(`METRICS ${answer}: is mcp-retention exporter running there?`);
  }
  return readPage(page.body ?? '', isNamed ? targetName : null);
}

/** Waits until the counts have been at rest for a while. */
export async function settled(source: Source): Promise<Counted | null> {
  const until = Date.now() + LONGEST_REST_MS;
  let last = await count(source);
  let since = Date.now();
  while (last !== null && Date.now() < until && Date.now() - since < REST_MS) {
    await delay(LOOK_EVERY_SECONDS);
    const next = await count(source);
    if (next?.registered !== last.registered) since = Date.now();
    last = next;
  }
  return last;
}

/** Waits until no more than `floor` are registered, or idle expiry has had its time. */
export async function expired(source: Source, floor: number, idleSeconds: number): Promise<Counted | null> {
  let until = Date.now() + idleSeconds * 1000 + DEFAULT_SLACK_MS;
  let fewest = Infinity;
  while (Date.now() < until) {
    const counted = await count(source);
    if (counted !== null && counted.registered <= floor) break;
    // A busy machine expires late but steadily: go on for as long as the registry shrinks.
    if (counted !== null && counted.registered < fewest) {
      fewest = counted.registered;
      until = Math.max(until, Date.now() + DEFAULT_SLACK_MS);
    }
    await delay(LOOK_EVERY_SECONDS);
  }
  return settled(source);
}

/** What a reading is held against. */
export interface Before {
  readonly baseline: number;
  readonly expirations: number;
  readonly remnants: number;
  readonly workers: string;
  /** Of the baseline, what others had opened. */
  readonly strangers: number;
  readonly promised: readonly ClaimId[];
}

/** What got no answer may have changed the registry or not: no reading can tell that nothing is kept. */
export function leaveOpen(op: Op, promised: readonly ClaimId[]): void {
  const changes = isOpening(op) || op.step === 'delete';
  if (changes && op.outcome === 'broken') leftUnanswered(promised.filter((claim) => READ_AT[claim]));
}

/** Turns a reading into metrics. One of other processes than before tells nothing, and so is no evidence. */
export function note(reading: string, counted: Counted, before: Before): void {
  if (counted.workers !== before.workers) {
    console.warn('The server was restarted, or a worker came or went: its counts begin anew there.');
    return;
  }
  const tags = { reading };
  const more = counted.registered - before.baseline;
  readings.add(1, tags);
  beyond.add(more, tags);
  unexpired.add(more + counted.expirations - before.expirations, tags);
  registered.add(counted.registered, tags);
  remnants.add(Math.max(0, counted.remnants - before.remnants), tags);
  identity.add(Math.abs(counted.identityDrift));
  const isAsked = (claim: ClaimId): boolean =>
    claim === 'identity.holds' || READ_AT[claim]?.includes(reading) === true;
  const asked = before.promised.filter(isAsked);
  haveRead(asked);
  // As many as were there before may hide as many kept ones by ending: such a reading tells only what is too many.
  if (before.strangers > 0) leftUnanswered(asked.filter((claim) => claim !== 'identity.holds'));
}
