/**
 * Floods a full server with openings by autocannon: requests without state, as fast as they go. A place wrongly
 * given is noticed by its session id and closed.
 */
import autocannon from 'autocannon';
import type { FloodStage } from '../cases/case.ts';
import { SessionId } from '../client/id.ts';
import { useId } from '../client/use.ts';
import type { Endpoint } from '../client/types.ts';
import { POST_HEADERS, SESSION_ID_HEADER } from '../protocol/http.ts';
import { initialize } from '../protocol/messages.ts';
import { recordOp, type ArmContext } from './context.ts';

interface Tally {
  readonly statuses: Record<string, number>;
  readonly admittedIds: string[];
}

export async function playFlood(context: ArmContext, stage: FloodStage, endpoint: Endpoint): Promise<void> {
  const startedAt = performance.now();
  const tally: Tally = { statuses: {}, admittedIds: [] };
  const result = await flood(stage, endpoint, tally, context.signal);
  const endedAt = performance.now();
  const answered = Object.values(tally.statuses).reduce((sum, count) => sum + count, 0);
  context.completed += answered;
  await close(context, stage, tally.admittedIds, startedAt, endedAt);
  context.write(
    {
      type: 'flood',
      ms: endedAt - startedAt,
      arm: context.arm,
      stage: stage.name,
      sent: result.sent,
      statuses: tally.statuses,
      admitted: tally.admittedIds.length,
      closed: tally.admittedIds.length,
      broken: Math.max(0, result.sent - answered),
    },
    performance.now(),
  );
}

/** autocannon keeps to `amount` exactly; a stream that never ends would stall it, so its own timeout applies. */
function flood(
  stage: FloodStage,
  endpoint: Endpoint,
  tally: Tally,
  signal: AbortSignal,
): Promise<{ sent: number }> {
  return new Promise((resolve, reject) => {
    const instance = autocannon(
      {
        url: endpoint.url,
        method: 'POST',
        headers: { ...POST_HEADERS, ...endpoint.headers },
        body: JSON.stringify(initialize(1)),
        connections: stage.connections,
        amount: stage.amount,
        timeout: Math.ceil(endpoint.timeoutMs / 1000),
        setupClient: (client) => {
          client.on('headers', (response) => note(tally, response as unknown as HeadersEvent));
        },
      },
      (error, result) => {
        signal.removeEventListener('abort', stop);
        if (error) reject(error as Error);
        else resolve({ sent: result.requests.sent });
      },
    );
    const stop = (): void => (instance as unknown as { stop(): void }).stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** What autocannon's client emits for `headers`: the parser's own shape, names as the server wrote them. */
interface HeadersEvent {
  readonly statusCode: number;
  readonly headers: readonly string[];
}

function note(tally: Tally, response: HeadersEvent): void {
  const status = String(response.statusCode);
  tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
  if (response.statusCode >= 300) return;
  for (let i = 0; i + 1 < response.headers.length; i += 2)
    if (response.headers[i]?.toLowerCase() === SESSION_ID_HEADER)
      tally.admittedIds.push(response.headers[i + 1] ?? '');
}

/** What was let in is a session like any other: opened in the flood, deleted now. */
async function close(
  context: ArmContext,
  stage: FloodStage,
  ids: readonly string[],
  startedAt: number,
  endedAt: number,
): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const key = `${stage.name}:${index}`;
    recordOp(context, stage.name, key, 'open', { outcome: 'ok', status: 200, sid: true, startedAt, endedAt });
    recordOp(
      context,
      stage.name,
      key,
      'delete',
      await useId(context.transport, new SessionId(id, null), 'DELETE'),
    );
  }
}
