import { defineCase, play, settle, warmUp } from './case.ts';
import { call, del, initialized, open, reuse } from './steps.ts';

/** CVE-2026-59951: DELETE ended the transport and kept the registry entry. */
export const deleteCase = defineCase({
  id: 'delete',
  title: 'Initialize, call, DELETE',
  settings: {},
  size: { sessions: 300, warmUp: 100, concurrency: 8 },
  stages: ({ size }) => {
    const load = play('load', 'load', size.sessions, size.concurrency, (pick) => [
      open(),
      initialized(),
      call(pick.text()),
      del(),
    ]);
    return [
      warmUp(load, size.warmUp),
      load,
      settle(),
      play('after', 'after', 20, 4, (pick) => [
        open(),
        initialized(),
        call(pick.text()),
        del(),
        reuse('POST'),
        reuse('GET'),
        reuse('DELETE'),
        open(),
        initialized(),
        del(),
      ]),
      settle('settle-after'),
    ];
  },
  claims: [
    'delete.accepted',
    'delete.deregisters',
    'delete.id-refused',
    'delete.repeat-settles',
    'delete.reopens',
  ],
});
