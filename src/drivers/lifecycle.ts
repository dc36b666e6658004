/**
 * Plays session plans, `concurrency` at a time, bounded by their count: no session is cut in its middle, and a
 * session that its plan neither left nor ended is closed, so that what stays open stays on purpose.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { planOf, type PlayStage } from '../cases/case.ts';
import type { Step } from '../cases/steps.ts';
import { McpSession } from '../client/session.ts';
import type { Exchange } from '../client/types.ts';
import { sendRefusal, useId } from '../client/use.ts';
import { localExchange } from '../client/outcome.ts';
import type { SessionId } from '../client/id.ts';
import { REFUSALS } from '../protocol/refusals.ts';
import { fill } from '../protocol/tools.ts';
import { recordOp, secondsOf, type ArmContext, type OpName, type PlannedSession } from './context.ts';

export async function playStage(context: ArmContext, stage: PlayStage): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < stage.sessions && !context.signal.aborted)
      await playPlan(context, stage.name, planOf(stage, context.seed, next), next++);
  };
  await Promise.all(Array.from({ length: Math.min(stage.concurrency, stage.sessions) }, worker));
}

/** Plays one plan, from its first step to its last. Its sessions are named `name:index`, then `name:index/2`, … */
export function playPlan(
  context: ArmContext,
  name: string,
  plan: readonly Step[],
  index: number,
): Promise<void> {
  return new PlanPlayer(context, name, index).play(plan);
}

/** Deletes a session and records it. */
export async function deleteSession(
  context: ArmContext,
  stage: string,
  planned: PlannedSession,
): Promise<void> {
  const { session } = planned;
  if (session === null) return;
  planned.deleted = true;
  // One that was dropped is taken up again for this.
  session.resume(context.transport);
  begin(context, planned.key, 'delete');
  recordOp(context, stage, planned.key, 'delete', await session.delete());
  await session.drop();
  planned.session = null;
}

function begin(context: ArmContext, session: string, step: OpName): void {
  context.begin?.(session, step, performance.now());
}

type Handler<K extends Step['do']> = (player: PlanPlayer, step: Extract<Step, { do: K }>) => Promise<void>;

/** One plan from its first step to its last. */
class PlanPlayer {
  readonly #context: ArmContext;
  readonly #name: string;
  readonly #index: number;
  #current: PlannedSession | null = null;
  #opened = 0;
  #held = false;
  /** The id that a refusal echoed, with the session's name. */
  #echoed: { id: SessionId | null; key: string; kind: string } | null = null;

  constructor(context: ArmContext, name: string, index: number) {
    this.#context = context;
    this.#name = name;
    this.#index = index;
  }

  async play(plan: readonly Step[]): Promise<void> {
    for (const step of plan) {
      if (this.#context.signal.aborted) break;
      await (PlanPlayer.#handlers[step.do] as (player: PlanPlayer, step: Step) => Promise<void>)(this, step);
    }
    const left = this.#current;
    if (left && !left.deleted && !left.dropped && !this.#held)
      await deleteSession(this.#context, this.#name, left);
  }

  /** One table for all players, of whom there are as many as sessions. */
  static readonly #handlers: { readonly [K in Step['do']]: Handler<K> } = {
    open: async (player, step) => {
      const key = player.#nextKey();
      const options = step.clientInfoBytes === undefined ? {} : { clientInfoBytes: step.clientInfoBytes };
      begin(player.#context, key, 'open');
      const { exchange, session, stray } = await McpSession.open(player.#context.transport, options);
      const before = player.#current?.id;
      const fresh = before && session?.id ? before.reveal() !== session.id.reveal() : undefined;
      recordOp(player.#context, player.#name, key, 'open', exchange, undefined, fresh);
      player.#adopt(key, session);
      // Refused in its body, with an id all the same: the server may hold a session for it.
      if (stray && (exchange.status ?? 500) < 400) await player.#deleteStray(key, stray);
    },
    initialized: (player) => player.#ask('initialized', (session) => session.initialized()),
    ping: (player) => player.#ask('ping', (session) => session.ping()),
    call: (player, step) => {
      const { name, arguments: args } = player.#context.tools.call;
      return player.#ask('call', (session) => session.call(name, fill(args, { text: step.text })));
    },
    sleep: (player, step) => {
      const { name, arguments: args } = player.#context.tools.slow;
      const seconds = secondsOf(player.#context, step.span);
      return player.#ask('sleep', (session) =>
        session.call(name, fill(args, { seconds }), { timeoutMs: (seconds + 30) * 1000 }),
      );
    },
    stream: async (player) => {
      await player.#ask('stream', (session) => session.openStream());
      if (player.#current?.session?.streamOpen === true) player.#followStream(player.#current);
    },
    delete: async (player) => {
      if (player.#current) await deleteSession(player.#context, player.#name, player.#current);
    },
    drop: async (player) => {
      const planned = player.#current;
      if (!planned?.session || planned.deleted) return;
      planned.dropped = true;
      recordOp(player.#context, player.#name, planned.key, 'drop', await planned.session.drop());
    },
    hold: (player) => {
      player.#held = true;
      return Promise.resolve();
    },
    wait: async (player, step) => {
      if (!player.#current) return;
      await delay(secondsOf(player.#context, step.span) * 1000, undefined, {
        signal: player.#context.signal,
      }).catch(() => undefined);
    },
    resume: (player, step) => {
      player.#current = player.#context.sessions.get(`${step.stage}:${step.index}`) ?? null;
      player.#current?.session?.resume(player.#context.transport);
      // Whoever resumes a session keeps it unless the plan goes on to end it.
      player.#held = true;
      return Promise.resolve();
    },
    reuse: async (player, step) => {
      const planned = player.#current;
      const id = planned?.id;
      if (!planned || !id) return;
      recordOp(
        player.#context,
        player.#name,
        planned.key,
        'reuse',
        await useId(player.#context.transport, id, step.method),
        step.method,
      );
    },
    refuse: (player, step) => player.#refuse(step.kind),
    'reuse-echoed': async (player, step) => {
      const echoed = player.#echoed;
      if (!echoed) return;
      const exchange =
        echoed.id === null
          ? localExchange('no id was echoed')
          : await useId(player.#context.transport, echoed.id, step.method);
      recordOp(
        player.#context,
        player.#name,
        echoed.key,
        'reuse-echoed',
        exchange,
        `${step.method} after ${echoed.kind}`,
      );
    },
  };

  async #refuse(kind: string): Promise<void> {
    const refusal = REFUSALS.find((candidate) => candidate.kind === kind);
    if (!refusal) throw new Error(`no refused opening of kind ${kind}`);
    const key = this.#nextKey();
    begin(this.#context, key, 'refuse');
    const { exchange, echoedId, opened } = await sendRefusal(this.#context.transport, refusal);
    recordOp(this.#context, this.#name, key, 'refuse', exchange, kind);
    if (opened === null) {
      this.#echoed = { id: echoedId, key, kind };
      return;
    }
    // The server may accept this kind: then it is an ordinary session, and closed as one.
    await this.#deleteStray(key, opened);
  }

  async #deleteStray(key: string, id: SessionId): Promise<void> {
    begin(this.#context, key, 'delete');
    const exchange = await useId(this.#context.transport, id, 'DELETE');
    recordOp(this.#context, this.#name, key, 'delete', exchange);
  }

  /** Records the moment at which the stream ends: by us (local), by a server that had no reason to, or broken. */
  #followStream(planned: PlannedSession): void {
    void planned.session?.streamEnded?.then(({ reason, at }) => {
      const outcome =
        reason === 'closed' ? 'local' : reason === 'broken' ? 'broken' : planned.deleted ? 'ok' : 'refused';
      recordOp(this.#context, this.#name, planned.key, 'stream-end', {
        outcome,
        startedAt: at,
        endedAt: at,
      });
    });
  }

  async #ask(
    step: 'initialized' | 'ping' | 'call' | 'sleep' | 'stream',
    send: (session: McpSession) => Promise<Exchange>,
  ): Promise<void> {
    const planned = this.#current;
    if (!planned?.session || planned.deleted) return;
    begin(this.#context, planned.key, step);
    recordOp(this.#context, this.#name, planned.key, step, await send(planned.session));
  }

  #nextKey(): string {
    this.#opened++;
    const plan = `${this.#name}:${this.#index}`;
    return this.#opened === 1 ? plan : `${plan}/${this.#opened}`;
  }

  #adopt(key: string, session: McpSession | null): void {
    this.#held = false;
    this.#current = session && { key, id: session.id, session, deleted: false, dropped: false };
    if (this.#current) this.#context.sessions.set(key, this.#current);
  }
}
