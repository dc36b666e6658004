/** JSON-RPC messages of MCP: those that this client sends, and how it reads those that come back. */
import { OFFERED_VERSION } from './version.ts';

export type RequestId = number | string;

export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface JsonRpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface JsonRpcResult {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result: Readonly<Record<string, unknown>>;
}

export interface JsonRpcError {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly error: { readonly code: number; readonly message: string };
}

export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResult | JsonRpcError;

/** JSON-RPC: the method does not exist. */
export const METHOD_NOT_FOUND = -32601;

const CLIENT = { name: 'mcp-retention', version: '1' } as const;

/**
 * The opening of a session.
 * @param options.clientInfoBytes pads the client's description of itself, so that the whole body has this many
 *   bytes; a number below the bare body's size changes nothing.
 */
export function initialize(id: RequestId, options: { clientInfoBytes?: number } = {}): JsonRpcRequest {
  const bare = initializeAs(id, CLIENT);
  if (options.clientInfoBytes === undefined) return bare;
  // Everything is ASCII, so that characters are bytes.
  const room = options.clientInfoBytes - JSON.stringify(initializeAs(id, { ...CLIENT, title: '' })).length;
  return room > 0 ? initializeAs(id, { ...CLIENT, title: 'x'.repeat(room) }) : bare;
}

function initializeAs(id: RequestId, clientInfo: Readonly<Record<string, string>>): JsonRpcRequest {
  const params = { protocolVersion: OFFERED_VERSION, capabilities: {}, clientInfo };
  return { jsonrpc: '2.0', id, method: 'initialize', params };
}

/** The client's word that it has read the answer to initialize. */
export function initialized(): JsonRpcNotification {
  return { jsonrpc: '2.0', method: 'notifications/initialized' };
}

export function ping(id: RequestId): JsonRpcRequest {
  return { jsonrpc: '2.0', id, method: 'ping' };
}

export function toolCall(
  id: RequestId,
  name: string,
  args: Readonly<Record<string, unknown>>,
): JsonRpcRequest {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

export function toolsList(id: RequestId): JsonRpcRequest {
  return { jsonrpc: '2.0', id, method: 'tools/list' };
}

/** Tells the server that the answer to a request is not wanted any more. Not for initialize. */
export function cancelled(requestId: RequestId, reason: string): JsonRpcNotification {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } };
}

/** Our answer to a request of the server: ping gets its empty result, we offer nothing else. */
export function answerTo(request: { id: RequestId; method: string }): JsonRpcResult | JsonRpcError {
  if (request.method === 'ping') return { jsonrpc: '2.0', id: request.id, result: {} };
  const error = { code: METHOD_NOT_FOUND, message: 'This client offers no such method.' };
  return { jsonrpc: '2.0', id: request.id, error };
}

/**
 * A message from the server as far as it could be read. `foreign`: JSON, but not a JSON-RPC message;
 * `unreadable`: not even JSON.
 */
export type Reply =
  | { readonly kind: 'result'; readonly id: RequestId; readonly result: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'error';
      readonly id: RequestId | null;
      readonly code: number;
      readonly message: string;
    }
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string }
  | { readonly kind: 'notification'; readonly method: string }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'unreadable' };

/**
 * Reads a JSON body or the data of one event. Never throws. Of a batch (revision 2025-03-26) it gives the first
 * answer in it.
 */
export function parseReply(text: string): Reply {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'unreadable' };
  }
  if (!Array.isArray(value)) return readMessage(value);
  const replies = value.map(readMessage);
  return replies.find(({ kind }) => kind === 'result' || kind === 'error') ?? { kind: 'foreign' };
}

function readMessage(value: unknown): Reply {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return { kind: 'foreign' };
  const { id, method, result, error } = value;
  if (typeof method === 'string') {
    return isId(id) ? { kind: 'request', id, method } : { kind: 'notification', method };
  }
  if (isObject(error)) return readError(id, error);
  return isId(id) && isObject(result) ? { kind: 'result', id, result } : { kind: 'foreign' };
}

function readError(id: unknown, { code, message }: Record<string, unknown>): Reply {
  if (typeof code !== 'number' || !Number.isInteger(code)) return { kind: 'foreign' };
  return {
    kind: 'error',
    id: isId(id) ? id : null,
    code,
    message: typeof message === 'string' ? message : '',
  };
}

function isId(value: unknown): value is RequestId {
  return typeof value === 'number' || typeof value === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What the answer to initialize says that matters to a session. */
export interface ServerOffer {
  /** The revision that the server chose; null where it named none. */
  readonly protocolVersion: string | null;
  readonly tools: boolean;
}

/** Reads the result of initialize; null when it is not one. */
export function readOffer(result: Readonly<Record<string, unknown>>): ServerOffer | null {
  const { protocolVersion, capabilities } = result;
  if (typeof protocolVersion !== 'string' && !isObject(capabilities)) return null;
  return {
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : null,
    tools: isObject(capabilities) && isObject(capabilities['tools']),
  };
}
