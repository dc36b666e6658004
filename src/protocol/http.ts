/** Names and values of the Streamable HTTP transport (MCP specification, basic/transports). */

/** Header names in lower case. */
export const SESSION_ID_HEADER = 'mcp-session-id';
export const PROTOCOL_VERSION_HEADER = 'mcp-protocol-version';

export const JSON_TYPE = 'application/json';
export const EVENT_STREAM_TYPE = 'text/event-stream';

/** What a POST must accept: both types, since the server chooses how it answers. */
export const ACCEPT_BOTH = `${JSON_TYPE}, ${EVENT_STREAM_TYPE}`;

/** Headers of every POST of a message. */
export const POST_HEADERS = { 'content-type': JSON_TYPE, accept: ACCEPT_BOTH } as const;

/** Headers of the GET that opens the event stream. */
export const STREAM_HEADERS = { accept: EVENT_STREAM_TYPE } as const;

/** The media type of a content-type header, in lower case and without parameters; '' where there is none. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
