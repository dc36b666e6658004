import { defineCase, expire, play } from './case.ts';
import { call, del, initialized, open } from './steps.ts';

/** Does idle expiry clean up what DELETE may have left? In affected builds it does not. */
export const deleteExpiryCase = defineCase({
  id: 'delete-expiry',
  title: 'Initialize, call, DELETE, with an idle timeout of 1 s',
  settings: { idleTimeoutSeconds: 1 },
  needs: ['idle-timeout'],
  size: { sessions: 100, warmUp: 0, concurrency: 8 },
  stages: ({ size }) => [
    play('load', 'load', size.sessions, size.concurrency, (pick) => [
      open(),
      initialized(),
      call(pick.text()),
      del(),
    ]),
    expire(),
  ],
  claims: ['delete-expiry.reclaimed'],
});
