import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assemble, type ArmEvents } from '../../src/recording/reader.ts';
import type { ManagerSample, OpRecord, SampleRecord } from '../../src/recording/schema.ts';
import { distrustOf, keepsNoSessions, misroutingOf } from '../../src/verdict/trust.ts';
import { verdict } from '../../src/verdict/verdict.ts';
import { ARM, BUILD, HEADER, lines, manager } from '../support/recordings.ts';

const sample = (t: number, ...managers: ManagerSample[]): SampleRecord => ({
  type: 'sample',
  t,
  arm: 'a1',
  sessions: { supported: true, managers },
  memory: null,
  requests: 0,
});

const op = (session: string, more: Partial<OpRecord> = {}): OpRecord => ({
  type: 'op',
  t: 50,
  ms: 1,
  arm: 'a1',
  stage: 'load',
  session,
  step: 'open',
  outcome: 'ok',
  status: 200,
  sid: true,
  ...more,
});

const events = (ops: OpRecord[]): ArmEvents => ({ ops }) as unknown as ArmEvents;
const ten = Array.from({ length: 10 }, (_, i) => op(`load:${i}`));
const before = sample(1, manager({}));

const distrust = (after: SampleRecord, kind: 'python' | 'url' = 'python', first = before): string | null =>
  distrustOf(events(ten), [first, after], kind);

test('counts of what was played are trusted', () => {
  assert.equal(distrust(sample(99, manager({ takenAt: 201, registrations: 10, removals: 10 })), 'url'), null);
  // Affected builds register refusals as well; on a server that is ours there are no others.
  assert.equal(distrust(sample(99, manager({ takenAt: 201, registrations: 30, removals: 2 }))), null);
});

test('a restart, a vanished worker, counters that fall', () => {
  const restarted = /restarted, or a worker came or went/;
  assert.match(
    distrust(sample(99, manager({ startedAt: 150, takenAt: 201, registrations: 10 }))) ?? '',
    restarted,
  );
  assert.match(
    distrust(sample(99, manager({ worker: '2', takenAt: 201, registrations: 10 }))) ?? '',
    restarted,
  );
  const counted = sample(1, manager({ registrations: 5 }));
  assert.match(
    distrust(sample(99, manager({ takenAt: 201, registrations: 3 })), 'python', counted) ?? '',
    restarted,
  );
});

test('an old snapshot, and a probe that does not see every worker', () => {
  assert.match(distrust(sample(99, manager({ registrations: 10 }))) ?? '', /old snapshot/);
  assert.match(
    distrust(sample(99, manager({ takenAt: 201, registrations: 6 }))) ?? '',
    /saw 6 of 10 sessions/,
  );
});

test('other clients on a server that someone else runs', () => {
  assert.match(
    distrust(sample(99, manager({ takenAt: 201, registrations: 14 })), 'url') ?? '',
    /14 sessions were registered, and at most 10 are ours/,
  );
  const theirs = sample(1, manager({ registeredAtStart: 9, registered: 9 }));
  const after = sample(
    99,
    manager({ takenAt: 201, registeredAtStart: 9, registered: 5, registrations: 10, removals: 14 }),
  );
  assert.match(distrust(after, 'url', theirs) ?? '', /Sessions of other clients ended/);
});

test('404 right after opening is routing; 404 after a while may be expiry', () => {
  const lost = [op('a'), op('a', { step: 'call', outcome: 'refused', status: 404 })];
  assert.match(misroutingOf(events(lost), () => 3) ?? '', /1 of 1 requests got 404/);
  assert.equal(
    misroutingOf(events(lost), () => 900),
    null,
  );
  assert.equal(
    misroutingOf(events(ten), () => 3),
    null,
  );
});

test('a server without session ids keeps no sessions', () => {
  assert.equal(keepsNoSessions(events([op('a', { sid: false })])), true);
  assert.equal(keepsNoSessions(events([op('a', { sid: false }), op('b')])), false);
  assert.equal(keepsNoSessions(events([])), false);
});

test('a server that was killed is told by how it ended, not by what its log says', async () => {
  const arm = { ...ARM, promised: ['survival.serves-after'] };
  const survival = async (reason: string): Promise<string | undefined> => {
    const died = { type: 'target', t: 50, arm: ARM.arm, event: 'died', reason };
    const { builds } = verdict(await assemble(lines(HEADER, BUILD, arm, died)));
    return builds[0]?.cases[0]?.claims.find(({ id }) => id === 'survival.serves-after')?.status;
  };
  const log = 'Its log says: TypeError: lost a worker (SIGTERM was not handled)';
  assert.equal(await survival(`the server ended with exit code 1. ${log}`), 'fail');
  assert.equal(await survival(`the server was ended by SIGSEGV. ${log}`), 'fail');
  assert.equal(await survival('the server was ended by SIGKILL. Its log gives no reason.'), 'unmeasured');
});
