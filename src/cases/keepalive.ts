import { defineCase, expire, play } from './case.ts';
import { drop, initialized, open, ping, sleep, stream, wait } from './steps.ts';

const MOST = 24;

/** Quiet streams and long calls outlive the idle timeout threefold: they are in flight, not idle. */
export const keepaliveCase = defineCase({
  id: 'keepalive',
  title: 'An open stream or a running call, three times the idle timeout of 1 s',
  settings: { idleTimeoutSeconds: 1 },
  needs: ['idle-timeout'],
  size: { sessions: 12, warmUp: 0, concurrency: 12 },
  // All at once: each waits for three timeouts, so a greater number of sessions must not wait in turn.
  stages: ({ size }) => [
    play('load', 'load', Math.min(size.sessions, MOST), Math.min(size.sessions, MOST), (pick) =>
      pick.index % 2 === 0
        ? [open(), initialized(), stream(), wait({ idleTimeouts: 3 }), ping(), drop()]
        : [open(), initialized(), sleep({ idleTimeouts: 3 }), drop()],
    ),
    expire(),
  ],
  claims: ['keepalive.stream-survives', 'keepalive.call-completes', 'keepalive.expires-after'],
});
