/** Basic authentication against bcrypt hashes. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { compare } from 'bcryptjs';
import pLimit from 'p-limit';

/** Whether an Authorization header names a user with the right password. */
export type Authenticate = (authorization: string | undefined) => Promise<boolean>;

/** Of no password: what an unknown user is compared with, so that the answer takes as long. */
const NOBODY = '$2b$10$abcdefghijklmnopqrstuuIpZqkO3jQzXkCrbL0PLyPCfhOVqSi5a';
/** bcrypt reads no more than this. */
const MAX_PASSWORD_BYTES = 72;

/**
 * bcrypt is slow on purpose, and Prometheus asks every few seconds: the password that was right is remembered by a
 * keyed digest. Comparisons run one at a time, so that guessing does not take the processor from scrapes.
 */
export function basicAuth(users: ReadonlyMap<string, string>): Authenticate {
  const key = randomBytes(32);
  const digest = (password: string): Buffer => createHmac('sha256', key).update(password).digest();
  const known = new Map<string, Buffer>();
  const oneAtATime = pLimit(1);
  return async (authorization) => {
    const credentials = parse(authorization);
    if (credentials === null) return false;
    const { user, password } = credentials;
    const hash = users.get(user);
    const remembered = known.get(user);
    if (remembered !== undefined && timingSafeEqual(remembered, digest(password))) return true;
    const right = await oneAtATime(() => compare(password, hash ?? NOBODY));
    if (!right || hash === undefined) return false;
    known.set(user, digest(password));
    return true;
  };
}

function parse(authorization: string | undefined): { user: string; password: string } | null {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const password = text.slice(colon + 1);
  if (colon < 0 || Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return null;
  return { user: text.slice(0, colon), password };
}
