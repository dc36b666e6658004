/** What a collector brings back when not every worker answers in time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { timed } from '../../exporters/collected.ts';
import type { Worker } from '../../exporters/workers.ts';
import { NO_DESCRIPTORS, ProbeError } from '../../src/observe/probe-client.ts';

const worker = (pid: number): Worker => ({
  probe: { worker: String(pid), kind: 'socket', path: `/run/x/${pid}.sock` },
  pid,
  file: null,
});
const WORKERS = [1, 2, 3].map(worker);
const DEADLINE_MS = 300;
const LATE = `Nothing was collected within ${DEADLINE_MS} ms.`;
const never = new Promise<never>(() => undefined);

test('a worker that does not answer takes no neighbour along', async () => {
  const { readings, failures } = await timed(DEADLINE_MS, Promise.resolve(WORKERS), ({ pid }) =>
    pid === 2 ? never : Promise.resolve({ pid }),
  );
  assert.deepEqual(readings, [{ pid: 1 }, { pid: 3 }]);
  assert.deepEqual(failures, [{ worker: '2', reason: LATE }]);
});

test('the time in which workers were found is spent', async () => {
  const found = delay(500).then(() => WORKERS);
  const { readings } = await timed(20_000, found, (_, leftMs) => Promise.resolve({ leftMs }));
  assert.equal(readings.length, 3);
  for (const { leftMs } of readings) assert.ok(leftMs <= 20_000 * 0.95 - 490, String(leftMs));
});

test('workers that are not even found are one failure of the target, and so is what cannot be read', async () => {
  const ask = (): Promise<object> => Promise.resolve({});
  const late = await timed(DEADLINE_MS, never, ask);
  assert.deepEqual([late.readings, late.failures], [[], [{ worker: '*', reason: LATE }]]);
  const unread = await timed(DEADLINE_MS, Promise.reject(new ProbeError('Unreadable.')), ask);
  assert.deepEqual([unread.readings, unread.failures], [[], [{ worker: '*', reason: 'Unreadable.' }]]);
});

test('a worker that fails, one that throws, and one that has ended', async () => {
  const { readings, failures } = await timed<object>(10_000, Promise.resolve(WORKERS), ({ pid }) => {
    if (pid === 1) return Promise.resolve({ worker: '1', reason: 'Dead.' });
    return pid === 2 ? Promise.reject(new Error('a defect')) : Promise.resolve(null);
  });
  assert.deepEqual(readings, []);
  assert.deepEqual(failures, [
    { worker: '1', reason: 'Dead.' },
    { worker: '2', reason: 'The collector failed: Error: a defect.' },
  ]);
});

test('file descriptors that are used up are told of once, whichever workers they lack for', async () => {
  const { readings, failures } = await timed<object>(10_000, Promise.resolve(WORKERS), (one) =>
    Promise.resolve(one.pid === 1 ? { pid: 1 } : { worker: one.probe.worker, reason: NO_DESCRIPTORS }),
  );
  assert.deepEqual(readings, [{ pid: 1 }]);
  assert.deepEqual(failures, [{ worker: '*', reason: NO_DESCRIPTORS }]);
});
