import { defineCase, play, settle, warmUp } from './case.ts';
import { drop, initialized, open } from './steps.ts';

/** Client info of this size stays within the 4 MiB that servers commonly accept for a body. */
const CLIENT_INFO_BYTES = 256 * 1024;

/**
 * Abandoned sessions whose initialize is large: what a cap on their number means in memory. A default cap is
 * no capacity qualification.
 */
export const abandonLargeCase = defineCase({
  id: 'abandon-large',
  title: 'Initialize with 256 KiB of client info, abandoned',
  settings: {},
  size: { sessions: 120, warmUp: 10, concurrency: 2 },
  stages: ({ size }) => {
    const load = play('load', 'load', size.sessions, size.concurrency, () => [
      open(CLIENT_INFO_BYTES),
      initialized(),
      drop(),
    ]);
    return [warmUp(load, size.warmUp), load, settle()];
  },
  claims: [],
});
