/** A pass is given only where series prove it: not beside requests without an answer, nor for a run that k6 cut. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { RunSeries } from '../../src/prometheus/read.ts';
import { reportOf } from '../../src/prometheus/report.ts';
import type { ClaimReport, Report } from '../../src/verdict/schema.ts';
import { sampled, type SimulatedSession, type Simulation } from '../support/sampled.ts';

const reported = (read: RunSeries): Report =>
  reportOf(read, {
    ...{ run: 'r', prometheus: 'http://p', allow: {} },
    policy: { idleMaxSeconds: null, maxSessions: null },
  });
const judge = (given: Simulation): Report => reported(sampled(given));

const promisedOf = ({ builds }: Report): ClaimReport[] =>
  builds.flatMap(({ cases }) => cases.flatMap(({ claims }) => claims.filter(({ promised }) => promised)));
const claimOf = (report: Report, wanted: string): ClaimReport | undefined =>
  report.builds[0]?.cases[0]?.claims.find(({ id }) => id === wanted);
const statusOf = (report: Report, id: string): string => claimOf(report, id)?.status ?? 'not there';
const told = (report: Report): string => JSON.stringify([report.notices, promisedOf(report)], null, 1);

const never = (): boolean => false;
const always = (): boolean => true;

const time = fc.double({ min: 1, max: 120, noNaN: true });
const deleted: fc.Arbitrary<SimulatedSession> = fc
  .record({ opened: time, held: fc.double({ min: 0.2, max: 30, noNaN: true }) })
  .map(({ opened, held }) => ({ opened, deleted: opened + held }));
const someDeleted = fc.array(deleted, { minLength: 1, maxLength: 40 });
const unanswered: fc.Arbitrary<SimulatedSession> = fc
  .record({ session: deleted, unanswered: fc.constantFrom('opening', 'deletion'), acted: fc.boolean() })
  .map(({ session, ...more }) => ({ ...session, ...more }));
const someUnanswered = fc.array(unanswered, { minLength: 1, maxLength: 5 });

const FINISHED = { begun: 8, finished: 8 };
/** Scraped to rest, by either load side. */
const simulation: fc.Arbitrary<Simulation> = fc
  .record({
    sessions: someDeleted,
    refused: fc.array(time, { maxLength: 10 }),
    interval: fc.constantFrom(1, 5, 15),
    offset: fc.double({ min: 0, max: 0.99, noNaN: true }),
    isK6: fc.boolean(),
  })
  .map(({ isK6, offset, ...one }) => ({
    ...one,
    ...{ keeps: never, registers: never, offset: offset * one.interval, linger: 60 },
    ...(isK6 && { k6: FINISHED }),
  }));

const plain: Simulation = {
  ...{ sessions: [{ opened: 5, deleted: 6 }], refused: [], keeps: never, registers: never },
  ...{ interval: 1, offset: 0.5, linger: 30 },
};
const ofK6: Simulation = { ...plain, k6: FINISHED };

describe('requests without an answer', () => {
  it('accuse no honest server', () => {
    fc.assert(
      fc.property(simulation, someUnanswered, (given, more) => {
        const report = judge({ ...given, sessions: [...given.sessions, ...more] });
        assert.notEqual(report.verdict, 'fail', told(report));
      }),
    );
  });

  it('hide no kept session', () => {
    fc.assert(
      fc.property(simulation, someUnanswered, fc.integer({ min: 1, max: 5 }), (given, more, one) => {
        const keeps = (i: number): boolean => i < given.sessions.length && i % one === 0;
        const report = judge({ ...given, sessions: [...given.sessions, ...more], keeps });
        assert.notEqual(report.verdict, 'pass');
        for (const id of ['retention.holds', 'delete.deregisters'])
          assert.notEqual(statusOf(report, id), 'pass', told(report));
      }),
    );
  });

  it('hide none of their own, and say why it is not known', () => {
    for (const what of ['opening', 'deletion'] as const) {
      const lost = { opened: 7, deleted: 8, unanswered: what, acted: what === 'opening' };
      const report = judge({ ...ofK6, sessions: [...plain.sessions, lost] });
      assert.equal(report.verdict, 'inconclusive');
      assert.match(claimOf(report, 'retention.holds')?.reason ?? '', /1 of them may be kept ones: up to/);
    }
  });

  it('leave a pass to a registry that is empty in the end', () => {
    const lost = { opened: 7, deleted: 8, unanswered: 'opening', acted: false } as const;
    assert.equal(judge({ ...ofK6, sessions: [...plain.sessions, lost] }).verdict, 'pass');
  });

  it('hide no session that was lost', () => {
    const left = Array.from({ length: 20 }, (_, i) => ({ opened: 5 + i, deleted: null, abandoned: 6 + i }));
    const abandon: Simulation = { ...ofK6, case: 'abandon', sessions: left };
    const id = 'abandon.alive-within-timeout';
    assert.equal(statusOf(judge(abandon), id), 'pass', told(judge(abandon)));
    const ending = left.map((one, i) => (i < 4 ? { ...one, lost: 27 } : one));
    assert.equal(statusOf(judge({ ...abandon, sessions: ending }), id), 'fail');
    const unsure = Array.from({ length: 4 }, () => ({
      opened: 8,
      deleted: 9,
      unanswered: 'opening' as const,
      acted: true,
    }));
    assert.equal(statusOf(judge({ ...abandon, sessions: [...ending, ...unsure] }), id), 'unmeasured');
    assert.notEqual(judge({ ...abandon, sessions: [...left, ...unsure] }).verdict, 'fail');
  });
});

describe('a server that lets deleted sessions go only when they expire', () => {
  const keptFor = fc.double({ min: 0.3, max: 25, noNaN: true });

  it('does not deregister them, though none is left', () => {
    fc.assert(
      fc.property(simulation, keptFor, fc.integer({ min: 1, max: 5 }), (given, seconds, one) => {
        const keeps = (i: number): boolean => i % one === 0;
        const report = judge({ ...given, keeps, keptFor: seconds });
        const claim = claimOf(report, 'delete.deregisters');
        assert.equal(claim?.status, 'fail', told(report));
        const kept = given.sessions.filter((_, i) => keeps(i)).length;
        assert.ok(Number(/^\d+/.exec(claim.observed)?.[0]) >= kept, claim.observed);
      }),
    );
  });

  it('never passes beside requests without an answer', () => {
    fc.assert(
      fc.property(simulation, keptFor, someUnanswered, (given, seconds, more) => {
        const keeps = (i: number): boolean => i === 0;
        const report = judge({ ...given, sessions: [...given.sessions, ...more], keeps, keptFor: seconds });
        assert.notEqual(statusOf(report, 'delete.deregisters'), 'pass', told(report));
      }),
    );
  });

  it('has reclaimed them where expiry is what was asked for', () => {
    const report = judge({ ...ofK6, case: 'delete-expiry', keeps: always, keptFor: 1 });
    assert.equal(statusOf(report, 'delete-expiry.reclaimed'), 'pass', told(report));
  });

  it('is not accused where the idle timeout is short', () => {
    const report = judge({ ...ofK6, idle: 2, keeps: always, keptFor: 1 });
    assert.match(
      claimOf(report, 'delete.deregisters')?.reason ?? '',
      /3 sessions expired, and up to 3 of them/,
    );
    assert.equal(report.verdict, 'inconclusive');
  });

  it('is not accused of losing sessions that were left', () => {
    const sessions = [...plain.sessions, { opened: 9, deleted: null, abandoned: 10 }];
    const report = judge({ ...ofK6, case: 'abandon', sessions, keeps: always, keptFor: 1 });
    assert.equal(statusOf(report, 'abandon.alive-within-timeout'), 'unmeasured', told(report));
  });
});

describe('a run of k6', () => {
  it('is whole when all its parts are finished', () => {
    fc.assert(
      fc.property(simulation, (given) => {
        const report = judge({ ...given, k6: FINISHED });
        assert.deepEqual([report.complete, report.verdict], [true, 'pass'], told(report));
      }),
    );
  });

  it('that was cut, or still runs, is undecided and not complete', () => {
    fc.assert(
      fc.property(simulation, fc.integer({ min: 0, max: 7 }), (given, finished) => {
        const report = judge({ ...given, k6: { begun: 8, finished } });
        assert.deepEqual([report.complete, report.verdict], [false, 'inconclusive'], told(report));
        assert.match(told(report), /of 8 parts that it began it finished/);
      }),
    );
  });

  it('that was cut is held against the server only where counters prove it', () => {
    fc.assert(
      fc.property(simulation, fc.double({ min: 2, max: 150, noNaN: true }), (given, cutAt) => {
        const read = sampled({ ...given, k6: { begun: 8, finished: 3 } });
        const until = Math.min(...read.load.map(({ times }) => times[0] ?? Infinity)) + cutAt;
        // What it did after its last write is in no counter.
        const load = read.load.map((one) => {
          const times = one.times.filter((t) => t <= until);
          return { ...one, times, values: one.values.slice(0, times.length) };
        });
        const report = reported({ ...read, load: load.filter(({ times }) => times.length > 0) });
        assert.equal(report.verdict, 'inconclusive', told(report));
      }),
    );
    const kept = judge({ ...ofK6, sessions: plain.sessions, keeps: always, k6: { begun: 2, finished: 1 } });
    assert.deepEqual([kept.complete, kept.verdict], [false, 'fail']);
  });

  it('that was aborted before its load shows nothing', () => {
    for (const ofCase of [
      'delete',
      'delete-expiry',
      'abandon',
      'abandon-expiry',
      'reject',
      'over-cap',
      'keepalive',
      'mixed',
    ]) {
      const report = judge({ ...ofK6, case: ofCase, sessions: [], k6: { begun: 0, finished: 0 } });
      assert.deepEqual([report.complete, report.verdict], [false, 'inconclusive'], ofCase);
      const passed = promisedOf(report).filter(({ status }) => status === 'pass');
      // What the probe says of the server is no matter of the load.
      const ofProbe = ['identity.holds', 'abandon.bounded'];
      assert.deepEqual(
        passed.filter(({ id }) => !ofProbe.includes(id)),
        [],
        ofCase,
      );
      assert.match(told(report), /was not begun/);
    }
  });

  it('whose sessions before and after the load are the only ones proves nothing', () => {
    const report = judge({ ...ofK6, sessions: [] });
    assert.equal(report.verdict, 'inconclusive');
    assert.match(claimOf(report, 'delete.deregisters')?.reason ?? '', /nothing was put to the test/);
  });

  it('is not whole where one of its scripts is not', () => {
    const whole = sampled(ofK6);
    const around = whole.load.find(({ labels }) => labels.stage !== undefined && labels.method !== undefined);
    assert.ok(around);
    const look = { ...around, labels: { ...around.labels, case: 'abandon', method: 'POST' } };
    const report = reported({ ...whole, load: [...whole.load, look] });
    assert.deepEqual([report.complete, report.verdict], [false, 'inconclusive'], told(report));
    assert.match(told(report), /load of abandon was not begun/);
  });
});

describe('sessions that are used for longer than the idle timeout', () => {
  const idle = 40;
  const used = Array.from({ length: 6 }, (_, i) => ({ opened: 5 + i / 10, deleted: null, abandoned: 125 }));
  const keepalive: Simulation = { ...ofK6, case: 'keepalive', idle, sessions: used, linger: 80 };
  const id = 'keepalive.stream-survives';

  it('survive', () => {
    assert.equal(statusOf(judge(keepalive), id), 'pass', told(judge(keepalive)));
  });
  it('are missed where the server ends them, though they are left later', () => {
    const sessions = used.map((one, i) => (i % 2 === 0 ? { ...one, lost: one.opened + idle } : one));
    assert.equal(statusOf(judge({ ...keepalive, sessions }), id), 'fail');
  });
  it('are not told of by scrapes that came at other times', () => {
    const report = judge({ ...keepalive, interval: 150, offset: 149, linger: 400 });
    assert.notEqual(statusOf(report, id), 'pass', told(report));
  });
});
