/**
 * The ledger as k6 metrics: virtual users share no state, so each adds what its own sessions did. Counters under the
 * catalogue's names are what the verdict from Prometheus reads; the others serve the thresholds and the summary alone.
 */
import exec from 'k6/execution';
import { Counter, Gauge } from 'k6/metrics';
import { methodOf } from '../../src/cases/reject.ts';
import type { StepName } from '../../src/cases/steps.ts';
import {
  clientAbandoned,
  clientDeleted,
  clientOpened,
  clientRefused,
  clientRequests,
  clientUncertain,
  partsBegun,
  partsFinished,
} from '../../src/metrics/catalogue.ts';

/** One step of one session, as a recording has it. */
export interface Op {
  readonly stage: string;
  /** `stage:index`, then `stage:index/2`, … */
  readonly session: string;
  readonly step: StepName;
  readonly outcome: 'ok' | 'refused' | 'broken' | 'local';
  readonly status?: number | undefined;
  /** The answer bore a session id. */
  readonly sid?: boolean;
  readonly kind?: string;
  readonly fresh?: boolean;
  readonly note?: string | undefined;
  /** Milliseconds from the session's last answer to this request; null for its first. */
  readonly idleMs: number | null;
  readonly ms: number;
  /** Headers of its answer arrived. */
  readonly begun: boolean;
  /** Its session's own DELETE had been accepted before. */
  readonly afterDelete?: boolean;
  /** An event stream of its session was open, or had been ended by the server. */
  readonly besideStream?: boolean;
}

/** The `case` tag where it is not the script's own. */
export type Tags = Readonly<Record<string, string>>;

const opened = new Counter(clientOpened.name);
const deleted = new Counter(clientDeleted.name);
const abandoned = new Counter(clientAbandoned.name);
const refused = new Counter(clientRefused.name);
const uncertain = new Counter(clientUncertain.name);
const requests = new Counter(clientRequests.name);

/** Registered beyond what was expected, by reading: what was opened counts against what was registered. */
export const BEYOND = 'mcp_k6_beyond_expected';
/** The same, with what expired taken off what was expected: no kept session hides behind one that expired. */
export const UNEXPIRED = 'mcp_k6_beyond_unexpired';
/** Readings that were made, of the processes that were there before. */
export const READINGS = 'mcp_k6_readings';
export const REGISTERED = 'mcp_k6_registered';
export const REMNANTS = 'mcp_k6_remnants';
export const IDENTITY = 'mcp_k6_identity_drift';
/** Racing openings let in, less the places that were free: 0 where the cap is exact. */
export const RACE = 'mcp_k6_race_balance';
/** Requests that followed their session's last one at once, and those of them that were answered with 404. */
export const FOLLOWED = 'mcp_k6_followed_at_once';
export const LOST = 'mcp_k6_lost_at_once';
/** DELETEs of the case's own sessions, and those of them that were declined with 405. */
export const DELETES = 'mcp_k6_deletes';
export const DECLINED = 'mcp_k6_deletes_declined';
/** What was begun of the load, and what of it was played to its end: the same unless it was cut. */
export const BEGUN = partsBegun.name;
export const FINISHED = partsFinished.name;
export const beyond = new Counter(BEYOND);
export const unexpired = new Counter(UNEXPIRED);
export const readings = new Counter(READINGS);
export const registered = new Gauge(REGISTERED);
export const remnants = new Gauge(REMNANTS);
export const identity = new Counter(IDENTITY);
export const race = new Counter(RACE);
export const followed = new Counter(FOLLOWED);
export const lost = new Counter(LOST);
export const deletes = new Counter(DELETES);
export const declined = new Counter(DECLINED);
export const begun = new Counter(BEGUN);
export const finished = new Counter(FINISHED);

const OVER_CAP_STATUS = 503;

/** Steps that send nothing. */
const SILENT: readonly StepName[] = ['drop', 'hold', 'wait', 'resume'];

export const isOpening = ({ step }: Op): boolean => step === 'open' || step === 'refuse';

let own: Tags = {};
let shared: Tags | null = null;

/**
 * Tags of everything that is counted. The script's options have them as well, but lose them all where the command line
 * names any by --tag, as the k6 operator does.
 */
export function tagWith(tags: Tags): void {
  own = tags;
}

/** Each virtual user reads the script anew: the run that k6 began with is the one. Asked once, since it costs. */
export const tagsHere = (): Tags => (shared ??= sharedTags());

function sharedTags(): Tags {
  const run = exec.test.options.tags?.['run'];
  return { ...own, ...(run !== undefined && { run }) };
}

/** Adds one step, by the rules of the ledger of `check`. */
export function add(op: Op, more: Tags): void {
  const tags: Tags = { ...tagsHere(), ...more };
  if (isOpening(op)) addOpening(op, tags);
  else if (op.step === 'delete') addDelete(op, tags);
  // Without an id there is no session that could be left.
  else if (op.step === 'drop' && op.sid === true) abandoned.add(1, tags);
  if (SILENT.includes(op.step) || isUnsent(op)) return;
  requests.add(1, { ...tags, method: httpMethod(op), status: String(op.status ?? 0) });
}

function addOpening(op: Op, tags: Tags): void {
  if (op.outcome === 'ok') {
    if (op.sid === true) opened.add(1, tags);
  } else if (op.outcome === 'refused')
    refused.add(1, { ...tags, reason: op.status === OVER_CAP_STATUS ? 'over-cap' : 'rejected' });
  else if (op.outcome === 'broken') uncertain.add(1, tags);
}

function addDelete(op: Op, tags: Tags): void {
  if (op.outcome === 'ok' || op.status === 404) deleted.add(1, tags);
  else if (op.outcome === 'broken') uncertain.add(1, tags);
}

/** By how much a step changes what may be registered at most. */
export function growth(op: Op): number {
  if (isOpening(op)) return (op.outcome === 'ok' && op.sid === true) || op.outcome === 'broken' ? 1 : 0;
  return op.step === 'delete' && (op.outcome === 'ok' || op.status === 404) ? -1 : 0;
}

/** Only an opening was meant to be sent; other steps are local for many a reason. */
const isUnsent = (op: Op): boolean => op.outcome === 'local' && !isOpening(op);

const METHODS: Partial<Record<StepName, string>> = { stream: 'GET', delete: 'DELETE' };

function httpMethod(op: Op): string {
  if (op.step === 'refuse') return methodOf(op.kind ?? '');
  if (op.step === 'reuse' || op.step === 'reuse-echoed') return op.kind?.split(' ')[0] ?? 'POST';
  return METHODS[op.step] ?? 'POST';
}
