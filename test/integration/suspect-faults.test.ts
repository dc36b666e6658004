import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CASES } from '../../src/cases/index.ts';
import { eventually, INITIALIZE, rpc, toolCall } from '../fixtures/servers/speaker.ts';
import { FAULTS, type FaultName, type SuspectOptions } from '../fixtures/servers/suspect.ts';
import { withSuspect, type Bench } from '../fixtures/servers/with-suspect.ts';

type Trial = (bench: Bench) => Promise<void>;

/** Those that end the process or spoil its probe are tried with the program and with the probe's reader. */
type Tried = Exclude<
  FaultName,
  'dies-after-delete' | 'probe-dies' | 'probe-hangs' | 'probe-stale' | 'probe-garbage'
>;

/** How each fault shows, and what beside it stays right. */
const TRIALS: Record<Tried, { readonly options?: SuspectOptions; readonly shows: Trial }> = {
  'delete-declined-500': {
    shows: async ({ speaker, counts }) => {
      const id = await speaker.open();
      assert.equal(await speaker.delete(id), 500);
      assert.equal(counts().registered, 0);
      assert.equal(await speaker.delete(id), 404);
    },
  },
  'delete-keeps-entry': {
    options: { idleTimeout: 0.2 },
    shows: async ({ speaker, counts }) => {
      const id = await speaker.open();
      assert.equal(await speaker.delete(id), 200);
      assert.equal(await speaker.ping(id), 404);
      await speaker.open();
      await eventually('the live session expires', () => counts().expirations === 1);
      assert.deepEqual([counts().registered, counts().remnants, counts().removals], [1, 1, 1]);
    },
  },
  'delete-keeps-one-in': {
    options: { faultRate: 3 },
    shows: async ({ speaker, counts }) => {
      for (let i = 0; i < 7; i++) assert.equal(await speaker.delete(await speaker.open()), 200);
      assert.deepEqual([counts().registered, counts().remnants, counts().removals], [2, 2, 5]);
    },
  },
  'delete-keeps-serving': {
    shows: async ({ speaker, counts }) => {
      const id = await speaker.open();
      assert.equal(await speaker.delete(id), 200);
      assert.equal(counts().registered, 0);
      assert.equal(await speaker.ping(id), 200);
      assert.equal((await speaker.stream(id)).status, 200);
      assert.equal(await speaker.delete(id), 404);
    },
  },
  'delete-twice-500': {
    shows: async ({ speaker }) => {
      const id = await speaker.open();
      assert.equal(await speaker.delete(id), 200);
      assert.equal(await speaker.ping(id), 404);
      assert.equal(await speaker.delete(id), 500);
      assert.equal(await speaker.delete('made-up'), 404);
    },
  },
  'delete-blocks-reopen': {
    shows: async ({ speaker }) => {
      const id = await speaker.open();
      assert.equal(await speaker.delete(id), 200);
      assert.equal(await speaker.delete(id), 404);
      assert.equal((await speaker.initialize()).status, 400);
      assert.equal((await speaker.initialize()).status, 200);
    },
  },
  'no-default-bounds': {
    shows: ({ counts }) => {
      assert.deepEqual([counts().idleTimeoutSeconds, counts().sessionLimit], [null, null]);
      return Promise.resolve();
    },
  },
  'expires-early': {
    shows: async ({ speaker, counts }) => {
      const id = await speaker.open();
      await eventually('it expires', () => counts().registered === 0);
      assert.equal(await speaker.ping(id), 404);
      assert.equal(counts().idleTimeoutSeconds, 1800);
    },
  },
  'never-expires': {
    options: { idleTimeout: 0.1 },
    shows: async ({ speaker, counts }) => {
      const id = await speaker.open();
      await sleep(500);
      assert.deepEqual(
        [await speaker.ping(id), counts().registered, counts().idleTimeoutSeconds],
        [200, 1, 0.1],
      );
    },
  },
  'expired-id-works': {
    options: { idleTimeout: 0.2 },
    shows: async ({ speaker, counts }) => {
      const id = await speaker.open();
      await eventually('it expires', () => counts().expirations === 1);
      assert.deepEqual([await speaker.ping(id), counts().registered], [200, 0]);
    },
  },
  'accepts-refusals': {
    shows: async ({ speaker, counts }) => {
      for (const method of ['GET', 'DELETE', 'PUT', 'HEAD']) {
        const { status, id } = await speaker.ask(method);
        assert.deepEqual([status, id], [200, undefined]);
      }
      assert.equal((await speaker.post(undefined, '{"no')).status, 200);
      assert.equal(counts().registered, 0);
    },
  },
  'refusals-register': {
    shows: async ({ speaker, counts }) => {
      const { status, id = '' } = await speaker.post(undefined, rpc('ping'));
      assert.deepEqual([status, await speaker.ping(id)], [400, 404]);
      const { registered, registrations, remnants } = counts();
      assert.deepEqual([registered, registrations, remnants], [1, 1, 0]);
    },
  },
  'refusal-id-works': {
    shows: async ({ speaker, counts }) => {
      const { status, id = '' } = await speaker.post(undefined, rpc('ping'));
      assert.deepEqual([status, await speaker.ping(id)], [400, 200]);
      assert.equal((await speaker.stream(id)).status, 200);
      assert.equal(counts().registered, 0);
    },
  },
  'cap-ignored': {
    options: { maxSessions: 2 },
    shows: async ({ speaker, counts }) => {
      for (let i = 0; i < 4; i++) await speaker.open();
      assert.deepEqual([counts().registered, counts().sessionLimit], [4, 2]);
    },
  },
  'cap-off-by-some': {
    options: { maxSessions: 5 },
    shows: async ({ speaker, counts }) => {
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) ids.push(await speaker.open());
      // One by one the cap holds.
      assert.equal((await speaker.initialize()).status, 503);
      for (const id of ids.slice(0, 3)) await speaker.delete(id);
      await Promise.all(Array.from({ length: 30 }, () => speaker.initialize()));
      assert.equal(counts().registered, 8);
      assert.equal((await speaker.initialize()).status, 503);
      assert.equal(await speaker.delete(ids[4] ?? ''), 200);
      assert.equal((await speaker.initialize()).status, 200);
    },
  },
  'cap-evicts': {
    options: { maxSessions: 3 },
    shows: async ({ speaker, counts }) => {
      const ids = [await speaker.open(), await speaker.open(), await speaker.open()];
      assert.equal((await speaker.initialize()).status, 503);
      const pings = await Promise.all(ids.map((id) => speaker.ping(id)));
      assert.deepEqual(pings, [200, 200, 404]);
      assert.deepEqual([counts().registered, counts().remnants], [3, 1]);
    },
  },
  'cap-never-frees': {
    options: { maxSessions: 2, faultRate: 2 },
    shows: async ({ speaker, counts }) => {
      const ids = [await speaker.open(), await speaker.open()];
      assert.equal((await speaker.initialize()).status, 503);
      assert.equal(await speaker.delete(ids[0] ?? ''), 200);
      await speaker.open();
      assert.equal((await speaker.initialize()).status, 503);
      assert.equal(await speaker.delete(ids[1] ?? ''), 200);
      assert.equal(counts().registered, 1);
      assert.equal((await speaker.initialize()).status, 503);
    },
  },
  'stream-does-not-count': {
    options: { idleTimeout: 0.5 },
    shows: async ({ speaker, counts }) => {
      const id = await speaker.open();
      const stream = await speaker.stream(id);
      assert.equal(stream.status, 200);
      await stream.ended;
      assert.equal(await speaker.ping(id), 404);
      assert.equal(counts().expirations, 1);
      const slow = await speaker.post(await speaker.open(), toolCall('sleep', { seconds: 1 }));
      assert.ok(slow.message?.result);
    },
  },
  'call-does-not-count': {
    options: { idleTimeout: 0.5 },
    shows: async ({ speaker, counts }) => {
      const slow = await speaker.post(await speaker.open(), toolCall('sleep', { seconds: 3600 }));
      assert.deepEqual([slow.status, slow.text, counts().expirations], [200, '', 1]);
      const quiet = await speaker.open();
      assert.equal((await speaker.stream(quiet)).status, 200);
      await sleep(1200);
      assert.equal(await speaker.ping(quiet), 200);
    },
  },
  'refuses-new-after-load': {
    options: { faultRate: 2 },
    shows: async ({ speaker }) => {
      for (let i = 0; i < 2; i++) await speaker.delete(await speaker.open());
      assert.equal((await speaker.initialize()).status, 500);
      assert.equal((await speaker.post(undefined, '{"no')).status, 400);
    },
  },
  'probe-lies': {
    options: { faultRate: 2 },
    shows: async ({ speaker, counts }) => {
      for (let i = 0; i < 4; i++) await speaker.open();
      assert.deepEqual([counts().registered, counts().registrations], [4, 2]);
    },
  },
  'memory-only': {
    shows: async ({ speaker, counts }) => {
      const before = process.memoryUsage().arrayBuffers;
      for (let i = 0; i < 50; i++) await speaker.delete(await speaker.open());
      assert.ok(process.memoryUsage().arrayBuffers - before > 40 * 65_536);
      assert.equal(counts().registered, 0);
    },
  },
  'slow-answers': {
    options: { delayMs: 50 },
    shows: async ({ speaker }) => {
      const before = performance.now();
      assert.equal((await speaker.post(undefined, INITIALIZE)).status, 200);
      assert.ok(performance.now() - before >= 49);
    },
  },
};

for (const [name, { options, shows }] of Object.entries(TRIALS)) {
  test(`fault ${name}: ${FAULTS[name as FaultName].says}`, () =>
    withSuspect({ ...options, fault: name as FaultName }, shows));
}

test('every claim of every case has a guilty suspect, and no suspect breaks a claim that there is not', () => {
  const claims = new Set(CASES.flatMap((each) => each.claims));
  const broken = new Set<string>(Object.values(FAULTS).flatMap((fault) => fault.breaks));
  assert.deepEqual([...broken].sort(), [...claims].sort());
});
