/**
 * What the session client reports of each request: facts, never exceptions.
 */

/** The answer to one request, or the lack of one. Times are performance.now() milliseconds. */
export interface Exchange {
  /**
   * ok: answered as asked. refused: answered with an HTTP or JSON-RPC error. broken: the connection broke, the
   * deadline passed or the answer could not be read: what the server did is uncertain. local: nothing was sent.
   */
  readonly outcome: 'ok' | 'refused' | 'broken' | 'local';
  /** HTTP status, where one arrived. */
  readonly status?: number;
  /** JSON-RPC error code, where the answer bore one. */
  readonly code?: number;
  /** The answer carried a session id. */
  readonly sid?: boolean;
  /** One sentence for people: why it was refused or broke. Never a session id or a token. */
  readonly note?: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Where an MCP server's endpoint is and how to speak to it. */
export interface Endpoint {
  /** http(s) URL of the endpoint. */
  readonly url: string;
  /** Sent with every request; may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds that a request may wait for its answer. */
  readonly timeoutMs: number;
}

export { DEFAULT_TOOLS, type ToolChoice } from '../protocol/tools.ts';
