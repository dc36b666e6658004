/** Who plays what: every plan once, by whoever holds the session that it resumes, in an order without deadlock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scheduleOf, shareOf, WHOLE, type Schedule, type Share } from '../../loadtests/lib/schedule.ts';
import { planOf, type Case, type Stage } from '../../src/cases/case.ts';
import { SCRIPTED } from '../support/k6/scripts.ts';

interface Made {
  readonly stages: readonly Stage[];
  readonly schedule: Schedule;
}

function made(definition: Case, sessions: number, concurrency: number): Made {
  const size = { ...definition.size, sessions, concurrency };
  const stages = definition.stages({ size, settings: definition.settings });
  return { stages, schedule: scheduleOf(stages, { seed: 1, size, settings: definition.settings }) };
}

const usersOf = ({ vus }: Schedule, { instance, count }: Share): number[] =>
  Array.from({ length: vus }, (_, vu) => vu).filter((vu) => vu % count === instance);

const anything = fc.record({
  definition: fc.constantFrom(...SCRIPTED),
  sessions: fc.integer({ min: 1, max: 90 }),
  concurrency: fc.integer({ min: 1, max: 24 }),
  count: fc.integer({ min: 1, max: 4 }),
});

test('every plan of every stage is played once, by any number of instances', () => {
  fc.assert(
    fc.property(anything, ({ definition, sessions, concurrency, count }) => {
      const { stages, schedule } = made(definition, sessions, concurrency);
      for (const stage of stages) {
        if (stage.kind !== 'play') continue;
        const played = Array.from({ length: count }, (_, instance) => ({ instance, count })).flatMap(
          (share) =>
            usersOf(schedule, share).flatMap((vu) =>
              schedule.itemsOf(vu, share).filter(({ lane }) => lane === stage),
            ),
        );
        const indexes = played.map(({ index }) => index).sort((a, b) => a - b);
        assert.deepEqual(
          indexes,
          Array.from({ length: stage.sessions }, (_, i) => i),
        );
      }
    }),
  );
});

test('a session is resumed by the user that opened it', () => {
  fc.assert(
    fc.property(anything, ({ definition, sessions, concurrency }) => {
      const { schedule } = made(definition, sessions, concurrency);
      for (const vu of usersOf(schedule, WHOLE)) {
        const own = new Set<string>();
        for (const { lane, index } of schedule.itemsOf(vu, WHOLE)) {
          if (lane.kind !== 'play') continue;
          const first = planOf(lane, 1, index)[0];
          if (first?.do === 'resume') assert.ok(own.has(`${first.stage}:${first.index}`));
          own.add(`${lane.name}:${index}`);
        }
      }
    }),
  );
});

test('gates let everything through, in the order of stages and no more at a time than a stage says', () => {
  fc.assert(
    fc.property(
      anything,
      fc.infiniteStream(fc.nat()),
      ({ definition, sessions, concurrency, count }, draws) => {
        const { schedule } = made(definition, sessions, concurrency);
        const share = { instance: 0, count };
        const queues = usersOf(schedule, share).map((vu) => [...schedule.itemsOf(vu, share)]);
        const running: { queue: number; lane: unknown }[] = [];
        const total = schedule.totalOf(share);
        for (let completed = 0; completed < total; completed++) {
          queues.forEach((queue, at) => {
            const [next] = queue;
            if (next === undefined || next.gate > completed || running.some((one) => one.queue === at))
              return;
            queue.shift();
            running.push({ queue: at, lane: next.lane });
            const stages = new Set(running.map(({ lane }) => lane));
            assert.equal(stages.size, 1, 'one stage at a time');
            const { lane } = next;
            if (lane.kind === 'play') assert.ok(running.length <= lane.concurrency);
          });
          assert.ok(running.length > 0, `nothing can be played after ${completed} of ${total}`);
          const pick = (draws.next().value as number) % running.length;
          running.splice(pick, 1);
        }
        assert.ok(queues.every((queue) => queue.length === 0));
      },
    ),
    { numRuns: 50 },
  );
});

test('shares of equal size are told by their segment', () => {
  assert.deepEqual(shareOf(null), WHOLE);
  assert.deepEqual(shareOf('0:1'), WHOLE);
  assert.deepEqual(shareOf('1/3'), { instance: 0, count: 3 });
  assert.deepEqual(shareOf('2/3:1'), { instance: 2, count: 3 });
  assert.deepEqual(shareOf('6/7:7/7'), { instance: 6, count: 7 });
  assert.throws(() => shareOf('0:2/3'), /no equal share/);
  assert.deepEqual(shareOf('1/3:2/3', '0,1/3,2/3,1'), { instance: 1, count: 3 });
  assert.deepEqual(shareOf('0:1', '0,1'), WHOLE);
  for (const uneven of ['0,1/3,1', '0,1/3,1/2,1', '0,1/3,2/3,1,1'])
    assert.throws(() => shareOf('0:1/3', uneven), /no equal share/);
});
