/** Basic authentication against bcrypt hashes. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { compare } from 'bcryptjs';
import pLimit from 'p-limit';

/** busy: too many ask at once, and this one was not looked at. */
export type Authentication = 'right' | 'wrong' | 'busy';

/**
 * Whether an Authorization header names a user with the right password.
 * @param isGone whether the one who asks waits for the answer no longer
 */
export type Authenticate = (
  authorization: string | undefined,
  isGone: () => boolean,
) => Promise<Authentication>;

/** Of no password: what an unknown user is compared with, so that the answer takes as long. */
const NOBODY = '$2b$10$abcdefghijklmnopqrstuuIpZqkO3jQzXkCrbL0PLyPCfhOVqSi5a';
/** bcrypt reads no more than this. */
const MAX_PASSWORD_BYTES = 72;
/** Who comes later would wait for longer than Prometheus does. */
const MOST_WAITING = 32;
/** A comparison keeps the event loop from everything else, which takes in one connection at each of its turns. */
const BREATH_MS = 20;

/**
 * bcrypt is slow on purpose, and Prometheus asks every few seconds: the password that was right is remembered by a
 * keyed digest. Comparisons run one at a time, so that guessing does not take the processor from scrapes, and few
 * wait for theirs, so that guessing does not keep out for long who knows the password.
 */
export function basicAuth(users: ReadonlyMap<string, string>): Authenticate {
  const key = randomBytes(32);
  const digest = (password: string): Buffer => createHmac('sha256', key).update(password).digest();
  const known = new Map<string, Buffer>();
  const oneAtATime = pLimit(1);
  const isKnown = ({ user, password }: Credentials): boolean => {
    const remembered = known.get(user);
    return remembered !== undefined && timingSafeEqual(remembered, digest(password));
  };
  const look = async (credentials: Credentials): Promise<Authentication> => {
    if (isKnown(credentials)) return 'right';
    const { user, password } = credentials;
    const hash = users.get(user);
    const right = await compare(password, hash ?? NOBODY);
    if (!right || hash === undefined) return 'wrong';
    known.set(user, digest(password));
    return 'right';
  };
  return async (authorization, isGone) => {
    const credentials = parse(authorization);
    if (credentials === null) return 'wrong';
    if (isKnown(credentials)) return 'right';
    if (oneAtATime.pendingCount >= MOST_WAITING) return 'busy';
    return oneAtATime(async () => {
      if (isGone()) return 'busy';
      await delay(BREATH_MS);
      return look(credentials);
    });
  };
}

interface Credentials {
  readonly user: string;
  readonly password: string;
}

function parse(authorization: string | undefined): Credentials | null {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const password = text.slice(colon + 1);
  if (colon < 0 || Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return null;
  return { user: text.slice(0, colon), password };
}
