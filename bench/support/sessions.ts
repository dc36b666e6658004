/**
 * Complete sessions (initialize, initialized, tools/call, DELETE) by our driver and by bare HTTP clients.
 * Each resolves with the performance.now() at which its last answer had arrived.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { Pool } from 'undici';
import { play, type PlayStage } from '../../src/cases/case.ts';
import { call, del, initialized, open } from '../../src/cases/steps.ts';
import { HttpTransport } from '../../src/client/http.ts';
import { DEFAULT_TOOLS } from '../../src/client/types.ts';
import type { ArmContext } from '../../src/drivers/context.ts';
import { playStage } from '../../src/drivers/lifecycle.ts';
import { POST_HEADERS, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../../src/protocol/http.ts';
import * as messages from '../../src/protocol/messages.ts';
import { OFFERED_VERSION } from '../../src/protocol/version.ts';
import { RECORDING_SCHEMA, type HeaderRecord } from '../../src/recording/schema.ts';
import { RecordingWriter } from '../../src/recording/writer.ts';
import { TOOL } from '../../src/version.ts';

export const HEADER: HeaderRecord = {
  type: 'header',
  schema: RECORDING_SCHEMA,
  tool: TOOL,
  host: { os: 'benchmark', arch: process.arch, cpus: 1, memoryBytes: 1, node: process.version },
  startedAt: '2026-01-01T00:00:00.000Z',
  command: 'bench',
  seed: 1,
  policy: { idleMaxSeconds: null, maxSessions: null },
  sampleEveryMs: 100,
};

/** A directory that is gone again afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'mcpr-bench-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Complete sessions by our driver. */
export async function byDriver(url: string, sessions: number, concurrency: number): Promise<number> {
  const stage = play('load', 'load', sessions, concurrency, (pick) => [
    open(),
    initialized(),
    call(pick.text()),
    del(),
  ]);
  const completed = await playWithDriver(url, stage);
  if (completed !== 4 * sessions) throw new Error('the driver missed requests');
  return performance.now();
}

/**
 * Plays a stage with its recording on disk, as in a run.
 * @returns how many requests were answered
 */
export function playWithDriver(url: string, stage: PlayStage): Promise<number> {
  return withFolder(async (folder) => {
    const recorder = new RecordingWriter(join(folder, 'recording.ndjson'), HEADER);
    const transport = new HttpTransport({ url, headers: {}, timeoutMs: 30_000 });
    const context: ArmContext = {
      arm: 'a1',
      seed: 1,
      transport,
      tools: DEFAULT_TOOLS,
      idleTimeoutSeconds: 1,
      signal: new AbortController().signal,
      sessions: new Map(),
      completed: 0,
      write: (record, endedAt) => recorder.write(record, recorder.at(endedAt)),
    };
    try {
      await playStage(context, stage);
    } finally {
      recorder.end('complete');
      await transport.close();
    }
    return context.completed;
  });
}

const INITIALIZE = JSON.stringify(messages.initialize(1));
const INITIALIZED = JSON.stringify(messages.initialized());
const CALL = JSON.stringify(messages.toolCall(2, 'echo', { text: 'a text of about thirty letters' }));

const withId = (id: string): Record<string, string> => ({
  [SESSION_ID_HEADER]: id,
  [PROTOCOL_VERSION_HEADER]: OFFERED_VERSION,
});

/** undici alone: the same four requests, bodies read, nothing recorded. */
export async function byUndici(url: string, sessions: number, concurrency: number): Promise<number> {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { pipelining: 1, connections: concurrency });
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next++ < sessions) await oneSession(pool, path);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const endedAt = performance.now();
  await pool.close();
  return endedAt;
}

async function oneSession(pool: Pool, path: string): Promise<void> {
  const opened = await pool.request({ path, method: 'POST', headers: POST_HEADERS, body: INITIALIZE });
  await opened.body.text();
  const own = withId(String(opened.headers[SESSION_ID_HEADER]));
  const headers = { ...POST_HEADERS, ...own };
  await (await pool.request({ path, method: 'POST', headers, body: INITIALIZED })).body.text();
  await (await pool.request({ path, method: 'POST', headers, body: CALL })).body.text();
  await (await pool.request({ path, method: 'DELETE', headers: own })).body.text();
}

interface Kept {
  id?: string;
}

/**
 * autocannon alone: the same four requests on each connection in turn; `sessions` / `concurrency` must be whole.
 * It reports only at its next tick of a second, so the last answer counts.
 */
export async function byAutocannon(url: string, sessions: number, concurrency: number): Promise<number> {
  const { pathname: path } = new URL(url);
  const own = (more: Record<string, string>) => (request: autocannon.Request, context: object) => ({
    ...request,
    headers: { ...more, ...withId((context as Kept).id ?? '') },
  });
  let endedAt = 0;
  const result = await autocannon({
    url,
    connections: concurrency,
    amount: 4 * sessions,
    requests: [
      {
        method: 'POST',
        path,
        headers: POST_HEADERS,
        body: INITIALIZE,
        onResponse: (_status, _body, context, headers) => {
          (context as Kept).id = headers?.['mcp-session-id'] as string;
        },
      },
      { method: 'POST', path, body: INITIALIZED, setupRequest: own(POST_HEADERS) },
      { method: 'POST', path, body: CALL, setupRequest: own(POST_HEADERS) },
      { method: 'DELETE', path, setupRequest: own({}), onResponse: () => (endedAt = performance.now()) },
    ],
  });
  if (result.non2xx + result.errors > 0) throw new Error('autocannon met errors');
  return endedAt;
}
