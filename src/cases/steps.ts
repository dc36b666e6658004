/**
 * The steps of a session plan: what one session of a case goes through, as data.
 * k6 loads this file, so it imports nothing but its neighbours.
 */

/** A length of time: in seconds, or as a multiple of the arm's idle timeout. */
export type Span = { seconds: number } | { idleTimeouts: number };

export type Step =
  /** POST initialize; `clientInfoBytes` pads the client's own description to about that size. */
  | { do: 'open'; clientInfoBytes?: number }
  /** POST notifications/initialized. */
  | { do: 'initialized' }
  /** POST tools/call of the echo tool (or ping, where the server offers no tools). */
  | { do: 'call'; text: string }
  /** POST tools/call of the sleep tool, which runs for `span`. */
  | { do: 'sleep'; span: Span }
  /** POST ping. */
  | { do: 'ping' }
  /** GET the event stream and keep it open until the session is dropped, held or deleted. */
  | { do: 'stream' }
  /** DELETE the session. */
  | { do: 'delete' }
  /** Close the client's side and leave the session behind, without DELETE. It can be resumed. */
  | { do: 'drop' }
  /** Keep the session open past the end of its plan, for a later stage. */
  | { do: 'hold' }
  /** Do nothing for a while. */
  | { do: 'wait'; span: Span }
  /** Go on with the session that another stage's plan number `index` dropped, held or deleted. */
  | { do: 'resume'; stage: string; index: number }
  /** Use the id of a session that has ended: it must be refused. */
  | { do: 'reuse'; method: 'POST' | 'GET' | 'DELETE' }
  /** Send an opening that the transport must refuse; `kind` names an entry of REFUSALS. */
  | { do: 'refuse'; kind: string }
  /** Use the session id that the refusal echoed, if any: it must not work. */
  | { do: 'reuse-echoed'; method: 'POST' | 'GET' };

/** A step's name, as it stands in the recording. */
export type StepName = Step['do'];

export const open = (clientInfoBytes?: number): Step =>
  clientInfoBytes === undefined ? { do: 'open' } : { do: 'open', clientInfoBytes };
export const initialized = (): Step => ({ do: 'initialized' });
export const call = (text: string): Step => ({ do: 'call', text });
export const sleep = (span: Span): Step => ({ do: 'sleep', span });
export const ping = (): Step => ({ do: 'ping' });
export const stream = (): Step => ({ do: 'stream' });
export const del = (): Step => ({ do: 'delete' });
export const drop = (): Step => ({ do: 'drop' });
export const hold = (): Step => ({ do: 'hold' });
export const wait = (span: Span): Step => ({ do: 'wait', span });
export const resume = (stage: string, index: number): Step => ({ do: 'resume', stage, index });
export const reuse = (method: 'POST' | 'GET' | 'DELETE'): Step => ({ do: 'reuse', method });
export const refuse = (kind: string): Step => ({ do: 'refuse', kind });
export const reuseEchoed = (method: 'POST' | 'GET'): Step => ({ do: 'reuse-echoed', method });
