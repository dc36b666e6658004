/** What is played around a case. Pure data; k6 loads this file too. */
import { play } from './case.ts';
import { call, del, initialized, open } from './steps.ts';

/** One session opened and deleted: is there an MCP server at all? */
export const PREFLIGHT = play('preflight', 'after', 1, 1, () => [open(), initialized(), del()]);

/** Does the server still serve after the case? */
export const SURVIVAL = play('survival', 'after', 1, 1, (pick) => [
  open(),
  initialized(),
  call(pick.text()),
  del(),
]);
