/** Plays a plan from its first step to its last, and tells every step. */
import { setTimeout } from 'k6/timers';
import type { Span, Step } from '../../src/cases/steps.ts';
import { REFUSALS } from '../../src/protocol/refusals.ts';
import { DEFAULT_TOOLS, fill } from '../../src/protocol/tools.ts';
import { local, type Endpoint, type Exchange } from './http.ts';
import type { Op } from './ledger.ts';
import * as mcp from './session.ts';

export interface Playing {
  readonly endpoint: Endpoint;
  /** What `idleTimeouts` in a plan's spans are multiples of, in seconds. */
  readonly idleSeconds: number;
  /** Latest session of each plan that this virtual user played and that is not over, by `stage:index`. */
  readonly sessions: Map<string, mcp.Session>;
  readonly tell: (op: Op) => void;
}

/** A stream stays open for longer than its plan waits, so that a ping after the wait still meets it. */
const STREAM_MARGIN_SECONDS = 1;

export const delay = (seconds: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(() => resolve(), seconds * 1000));

interface Plan {
  readonly playing: Playing;
  readonly stage: string;
  readonly index: number;
  readonly steps: readonly Step[];
  /** Position of the step being played. */
  at: number;
  current: mcp.Session | null;
  opened: number;
  echoed: { readonly id: string | null; readonly key: string; readonly kind: string } | null;
}

export async function playPlan(
  playing: Playing,
  stage: string,
  index: number,
  steps: readonly Step[],
): Promise<void> {
  const plan: Plan = { playing, stage, index, steps, at: 0, current: null, opened: 0, echoed: null };
  for (const step of steps) {
    await (HANDLERS[step.do] as (plan: Plan, step: Step) => Promise<void>)(plan, step);
    plan.at++;
  }
  // What its plan neither left nor ended is closed.
  const left = plan.current;
  if (left !== null && !left.deleted && !left.dropped && !left.held)
    await deleteSession(playing, stage, left);
}

/** Deletes a session and tells it. */
export async function deleteSession(playing: Playing, stage: string, session: mcp.Session): Promise<void> {
  if (session.deleted) return;
  session.deleted = true;
  const { key } = session;
  const exchange = await mcp.del(playing.endpoint, session);
  // A client takes 404 for success: it is gone.
  const outcome = exchange.status === 404 ? 'ok' : exchange.outcome;
  session.deleteAccepted = outcome === 'ok' && exchange.status !== 404;
  playing.tell(opOf(stage, key, 'delete', { ...exchange, outcome }, { idleMs: idleOf(session, exchange) }));
  await endStream(playing, stage, session);
}

type Details = Partial<Pick<Op, 'kind' | 'fresh' | 'idleMs' | 'afterDelete' | 'besideStream'>>;

function opOf(stage: string, session: string, step: Op['step'], exchange: Exchange, more: Details = {}): Op {
  const { outcome, status, note, ms, begun, sessionId } = exchange;
  return {
    stage,
    session,
    step,
    outcome,
    status,
    note,
    ms,
    begun,
    sid: sessionId !== undefined,
    idleMs: null,
    ...more,
  };
}

/** How long a session had been quiet when a request that has just been answered was sent. */
const idleOf = (session: mcp.Session, { ms }: Exchange): number =>
  Math.max(0, Date.now() - ms - session.lastAt);

/** Tells how a stream ended: in its time (open until then), before it, or refused. */
async function endStream(playing: Playing, stage: string, session: mcp.Session): Promise<void> {
  const { stream } = session;
  if (stream === null) return;
  session.stream = null;
  const exchange = await stream.ended;
  session.lastAt = Date.now();
  // With its session it ends rightly; by itself only when its time is up.
  const outcome =
    exchange.outcome === 'ok' && !exchange.open && !session.deleted ? 'refused' : exchange.outcome;
  playing.tell(opOf(stage, session.key, 'stream', { ...exchange, outcome }));
}

async function ask(
  { playing, stage, current }: Plan,
  step: 'initialized' | 'ping' | 'call' | 'sleep',
  sent: (session: mcp.Session) => Promise<Exchange>,
): Promise<void> {
  if (current === null || current.deleted) return;
  const exchange = await sent(current);
  const idleMs = idleOf(current, exchange);
  if (exchange.status !== undefined || exchange.open) current.lastAt = Date.now();
  const besideStream = current.stream !== null && (current.stream.over?.status ?? 0) < 400;
  playing.tell(opOf(stage, current.key, step, exchange, { idleMs, besideStream }));
}

function nextKey(plan: Plan): string {
  plan.opened++;
  const key = `${plan.stage}:${plan.index}`;
  return plan.opened === 1 ? key : `${key}/${plan.opened}`;
}

async function deleteStray(plan: Plan, key: string, id: string, version: string | null): Promise<void> {
  const { playing, stage } = plan;
  playing.tell(opOf(stage, key, 'delete', await mcp.useId(playing.endpoint, id, version, 'DELETE')));
}

const secondsOf = ({ idleSeconds }: Playing, span: Span): number =>
  'seconds' in span ? span.seconds : span.idleTimeouts * idleSeconds;

type Handler<K extends Step['do']> = (plan: Plan, step: Extract<Step, { do: K }>) => Promise<void>;

const HANDLERS: { readonly [K in Step['do']]: Handler<K> } = {
  open: async (plan, step) => {
    const { playing, stage } = plan;
    const key = nextKey(plan);
    const { clientInfoBytes } = step;
    const options = clientInfoBytes === undefined ? {} : { clientInfoBytes };
    const { exchange, session, stray } = await mcp.open(playing.endpoint, key, options);
    const before = plan.current?.id ?? null;
    const fresh = before !== null && session?.id != null ? { fresh: session.id !== before } : {};
    playing.tell(opOf(stage, key, 'open', exchange, fresh));
    plan.current = session;
    if (session !== null) playing.sessions.set(key, session);
    // Refused in its body, with an id all the same: the server may hold a session for it.
    if (stray !== null && (exchange.status ?? 500) < 400) await deleteStray(plan, key, stray, null);
  },
  initialized: (plan) =>
    ask(plan, 'initialized', (session) => mcp.initialized(plan.playing.endpoint, session)),
  ping: (plan) => ask(plan, 'ping', (session) => mcp.ping(plan.playing.endpoint, session)),
  call: (plan, step) => {
    const { name, arguments: args } = DEFAULT_TOOLS.call;
    const tool = { name, arguments: fill(args, { text: step.text }) };
    return ask(plan, 'call', (session) => mcp.call(plan.playing.endpoint, session, tool));
  },
  sleep: (plan, step) => {
    const seconds = secondsOf(plan.playing, step.span);
    const { name, arguments: args } = DEFAULT_TOOLS.slow;
    const tool = { name, arguments: fill(args, { seconds }) };
    return ask(plan, 'sleep', (session) => mcp.call(plan.playing.endpoint, session, tool, seconds));
  },
  stream: (plan) => {
    const session = plan.current;
    const waits = plan.steps
      .slice(plan.at)
      .map((step) => ('span' in step ? secondsOf(plan.playing, step.span) : 0));
    const seconds = waits.reduce((sum, wait) => sum + wait, STREAM_MARGIN_SECONDS);
    if (session !== null) session.stream = mcp.openStream(plan.playing.endpoint, session, seconds);
    return Promise.resolve();
  },
  delete: async (plan) => {
    if (plan.current !== null) await deleteSession(plan.playing, plan.stage, plan.current);
  },
  drop: async ({ playing, stage, current }) => {
    if (current === null || current.deleted) return;
    await endStream(playing, stage, current);
    if (!current.dropped)
      playing.tell({ ...opOf(stage, current.key, 'drop', local('')), sid: current.id !== null });
    current.dropped = true;
  },
  hold: ({ current }) => {
    if (current !== null) current.held = true;
    return Promise.resolve();
  },
  wait: async (plan, step) => {
    if (plan.current !== null) await delay(secondsOf(plan.playing, step.span));
  },
  resume: (plan, step) => {
    plan.current = plan.playing.sessions.get(`${step.stage}:${step.index}`) ?? null;
    // Whoever resumes a session keeps it unless the plan goes on to end it.
    if (plan.current !== null) plan.current.held = true;
    return Promise.resolve();
  },
  reuse: async ({ playing, stage, current }, step) => {
    if (current?.id == null) return;
    const exchange = await mcp.useId(playing.endpoint, current.id, current.version, step.method);
    const details = { kind: step.method, afterDelete: current.deleteAccepted };
    playing.tell(opOf(stage, current.key, 'reuse', exchange, details));
  },
  refuse: async (plan, step) => {
    const { playing, stage } = plan;
    const refusal = REFUSALS.find((candidate) => candidate.kind === step.kind);
    if (refusal === undefined) throw new Error(`no refused opening of kind ${step.kind}`);
    const key = nextKey(plan);
    const { exchange, echoedId, opened } = await mcp.refuse(playing.endpoint, refusal);
    playing.tell(opOf(stage, key, 'refuse', exchange, { kind: step.kind }));
    if (opened === null) plan.echoed = { id: echoedId, key, kind: step.kind };
    // The server may accept this kind: then it is an ordinary session, and closed as one.
    else await deleteStray(plan, key, opened.id, opened.version);
  },
  'reuse-echoed': async ({ playing, stage, echoed }, step) => {
    if (echoed === null) return;
    const exchange =
      echoed.id === null
        ? local('no id was echoed')
        : await mcp.useId(playing.endpoint, echoed.id, null, step.method);
    const kind = `${step.method} after ${echoed.kind}`;
    playing.tell(opOf(stage, echoed.key, 'reuse-echoed', exchange, { kind }));
  },
};
