/** All cases, in the order in which they are played and shown. To add one: a file, and a line here. */
import { abandonExpiryCase } from './abandon-expiry.ts';
import { abandonLargeCase } from './abandon-large.ts';
import { abandonCase } from './abandon.ts';
import type { Case } from './case.ts';
import { deleteExpiryCase } from './delete-expiry.ts';
import { deleteCase } from './delete.ts';
import { keepaliveCase } from './keepalive.ts';
import { overCapCase } from './over-cap.ts';
import { rejectCase } from './reject.ts';

export const CASES: readonly Case[] = [
  deleteCase,
  deleteExpiryCase,
  abandonCase,
  abandonLargeCase,
  abandonExpiryCase,
  rejectCase,
  overCapCase,
  keepaliveCase,
];
