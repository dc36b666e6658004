/** All claims by id. To add one: a definition, a line here, and a server that is guilty of breaking it. */
import type { Claim } from '../claim.ts';
import * as abandon from './abandon.ts';
import * as deletes from './delete.ts';
import * as every from './every.ts';
import * as keepalive from './keepalive.ts';
import * as overCap from './over-cap.ts';
import * as reject from './reject.ts';

const all: readonly Claim[] = [deletes, abandon, reject, overCap, keepalive, every].flatMap((claims) =>
  Object.values(claims),
);

export const CLAIMS: ReadonlyMap<string, Claim> = new Map(all.map((claim) => [claim.id, claim]));

/** @throws Error when a case names a claim that is not defined: a mistake of ours, seen by the tests. */
export function claimOf(id: string): Claim {
  const claim = CLAIMS.get(id);
  if (!claim) throw new Error(`no claim ${id}`);
  return claim;
}
