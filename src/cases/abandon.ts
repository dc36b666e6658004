import { defineCase, play, settle, warmUp } from './case.ts';
import { call, drop, initialized, open, ping, resume } from './steps.ts';

/** Clients that go away without DELETE, under the build's own defaults: held for a while, but not without bound. */
export const abandonCase = defineCase({
  id: 'abandon',
  title: 'Initialize, call, connection closed without DELETE',
  settings: {},
  size: { sessions: 300, warmUp: 100, concurrency: 8 },
  stages: ({ size }) => {
    const load = play('load', 'load', size.sessions, size.concurrency, (pick) => [
      open(),
      initialized(),
      call(pick.text()),
      drop(),
    ]);
    return [
      warmUp(load, size.warmUp),
      load,
      settle(),
      play('alive', 'after', Math.min(20, size.sessions), 4, (pick) => [
        resume('load', pick.index),
        ping(),
        drop(),
      ]),
    ];
  },
  claims: ['abandon.alive-within-timeout', 'abandon.bounded'],
});
