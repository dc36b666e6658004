import { defineCase, expire, play } from './case.ts';
import { call, drop, initialized, open, ping, resume, wait } from './steps.ts';

/** Abandoned sessions with an idle timeout: there before it, gone after it, and their ids refused. */
export const abandonExpiryCase = defineCase({
  id: 'abandon-expiry',
  title: 'Abandoned, with an idle timeout of 1 s',
  settings: { idleTimeoutSeconds: 1 },
  needs: ['idle-timeout'],
  size: { sessions: 100, warmUp: 0, concurrency: 8 },
  stages: ({ size }) => [
    // Few at a time, so that the ping goes out well before the timeout also on a busy machine.
    play('before', 'after', 8, 4, (pick) => [
      open(),
      initialized(),
      drop(),
      wait({ idleTimeouts: 0.4 }),
      resume('before', pick.index),
      ping(),
      drop(),
    ]),
    play('load', 'load', size.sessions, size.concurrency, (pick) => [
      open(),
      initialized(),
      call(pick.text()),
      drop(),
    ]),
    expire(),
    play('ids', 'after', Math.min(20, size.sessions), 4, (pick) => [
      resume('load', pick.index),
      ping(),
      drop(),
    ]),
  ],
  claims: ['abandon-expiry.alive-before', 'abandon-expiry.reclaimed', 'abandon-expiry.id-refused'],
});
