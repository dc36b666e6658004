/** What the answer to a request means: pure, so that every runtime judges answers alike. */
import { EVENT_STREAM_TYPE, JSON_TYPE } from './http.ts';
import type { Reply } from './messages.ts';

/** An answer of which status and headers arrived, and the body as far as it was wanted. */
export interface Answered {
  readonly status: number;
  /** The media type, in lower case and without parameters; '' where there is none. */
  readonly contentType: string;
  /** The message in the body; null where there was none, or it was not wanted. */
  readonly reply: Reply | null;
}

/**
 * What counts as answered as asked. reply: a JSON-RPC result. accepted: any 2xx that bears no JSON-RPC error.
 * stream: a 2xx event stream.
 */
export type Expected = 'reply' | 'accepted' | 'stream';

/** ok, refused and broken as the client reports them, with the JSON-RPC error's code and a sentence for people. */
export interface AnswerVerdict {
  readonly outcome: 'ok' | 'refused' | 'broken';
  readonly code?: number;
  readonly note?: string;
}

const OK: AnswerVerdict = { outcome: 'ok' };

/** Judges an answer that is no redirect. */
export function judgeAnswer(answer: Answered, expected: Expected): AnswerVerdict {
  const { status, reply, contentType } = answer;
  if (reply?.kind === 'error') return { outcome: 'refused', code: reply.code };
  if (status >= 400) return { outcome: 'refused' };
  if (contentType === 'text/html') return notMcp(answer);
  if (expected === 'reply') return replyVerdict(answer);
  if (expected === 'accepted' || contentType === EVENT_STREAM_TYPE) return OK;
  return { outcome: 'refused', note: `answered ${typeOf(answer)} instead of an event stream` };
}

function replyVerdict(answer: Answered): AnswerVerdict {
  const { reply, contentType } = answer;
  if (reply?.kind === 'result') {
    if (reply.result['isError'] !== true) return OK;
    return { outcome: 'refused', note: 'the tool reports an error' };
  }
  if (contentType === EVENT_STREAM_TYPE) {
    return { outcome: 'broken', note: 'the event stream ended without the answer' };
  }
  if (contentType !== JSON_TYPE && contentType !== '') return notMcp(answer);
  if (reply === null) return { outcome: 'broken', note: 'the answer is empty' };
  if (reply.kind === 'unreadable' && contentType === JSON_TYPE) {
    return { outcome: 'broken', note: 'the answer is not readable JSON' };
  }
  return notMcp(answer);
}

function notMcp(answer: Answered): AnswerVerdict {
  return {
    outcome: 'refused',
    note: `answered ${typeOf(answer)}, not MCP: is this the endpoint's path?`,
  };
}

/** The media type by name where it is a common one: a server's words do not go into notes. */
function typeOf({ contentType }: Answered): string {
  if (contentType === '') return 'no content type';
  return /^[a-z]+\/[a-z0-9.+-]{1,40}$/.test(contentType) ? contentType : 'an unknown content type';
}
