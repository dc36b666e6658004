import { defineCase, play, settle } from './case.ts';
import { del, hold, initialized, open, ping, resume } from './steps.ts';

const DEFAULT_CAP = 20;
/** Places made free before the race, so that exactly this many of the racing openings may win. */
const FREED = 5;

/** A race is one of many at a time, whatever concurrency other cases are played with. */
const RACING = 40;

/** A cap on sessions: exact, also under a race, evicting nobody, and with room again after a DELETE. */
export const overCapCase = defineCase({
  id: 'over-cap',
  title: `Openings up to a cap of ${DEFAULT_CAP} and beyond it, one by one and racing`,
  settings: { maxSessions: DEFAULT_CAP },
  needs: ['max-sessions'],
  size: { sessions: 40, warmUp: 0, concurrency: 40 },
  stages: ({ size, settings }) => {
    const cap = settings.maxSessions ?? DEFAULT_CAP;
    const freed = Math.min(FREED, cap - 1);
    return [
      play('fill', 'load', cap, 1, () => [open(), initialized(), hold()]),
      play('beyond', 'load', 5, 1, () => [open()]),
      play('make-room', 'load', freed, 1, (pick) => [resume('fill', pick.index), del()]),
      settle('settle-room'),
      play('race', 'load', Math.max(size.sessions, RACING), RACING, () => [open(), hold()]),
      settle(),
      { kind: 'flood', name: 'flood', phase: 'after', amount: 200, connections: 10 },
      play('kept', 'after', cap - freed, 4, (pick) => [resume('fill', freed + pick.index), ping(), hold()]),
      play('free-one', 'after', 1, 1, () => [resume('fill', freed), del()]),
      settle('settle-free'),
      play('room', 'after', 1, 1, () => [open(), initialized(), del()]),
    ];
  },
  claims: ['over-cap.refuses', 'over-cap.exact', 'over-cap.evicts-none', 'over-cap.room-returns'],
});
