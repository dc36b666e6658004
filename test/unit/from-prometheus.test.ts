/** Judging samples: an honest server is never accused, however it is scraped; what is kept is found, and nothing else. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { reportOf } from '../../src/prometheus/report.ts';
import { atLeastBy, atMostBy, firstFrom, goesBack, lastAt, thinned } from '../../src/prometheus/series.ts';
import type { Report } from '../../src/verdict/schema.ts';
import { sampled, type Simulation } from '../support/sampled.ts';

const judge = (given: Simulation): Report =>
  reportOf(sampled(given), {
    run: 'r',
    prometheus: 'http://p',
    policy: { idleMaxSeconds: null, maxSessions: null },
    allow: {},
  });

const statusOf = (report: Report, id: string): string | undefined =>
  report.builds[0]?.cases[0]?.claims.find((claim) => claim.id === id)?.status;
const reasonOf = (report: Report, id: string): string =>
  report.builds[0]?.cases[0]?.claims.find((claim) => claim.id === id)?.reason ?? '';

const never = (): boolean => false;
const always = (): boolean => true;

const time = fc.double({ min: 1, max: 120, noNaN: true });
const simulation: fc.Arbitrary<Simulation> = fc
  .record({
    sessions: fc.array(
      fc
        .record({ opened: time, held: fc.option(fc.double({ min: 0.2, max: 30, noNaN: true })) })
        .map(({ opened, held }) => ({ opened, deleted: held === null ? null : opened + held })),
      { minLength: 1, maxLength: 60 },
    ),
    refused: fc.array(time, { maxLength: 20 }),
    keeps: fc.constant(never),
    registers: fc.constant(never),
    interval: fc.constantFrom(1, 5, 15),
    offset: fc.double({ min: 0, max: 0.99, noNaN: true }),
    linger: fc.constantFrom(0, 5, 60),
  })
  .map((one) => ({ ...one, offset: one.offset * one.interval }));

describe('an honest server', () => {
  it('is never accused', () => {
    fc.assert(
      fc.property(simulation, (given) => {
        const report = judge(given);
        assert.notEqual(report.verdict, 'fail', JSON.stringify(report.builds[0]?.cases[0]?.claims));
      }),
    );
  });

  it('passes once the load has come to rest under scrapes', () => {
    fc.assert(
      fc.property(simulation, (given) => {
        // Sessions that are left open are in flight for ever: the load never comes to rest.
        const sessions = given.sessions.map(({ opened, deleted }) => ({
          opened,
          deleted: deleted ?? opened + 1,
        }));
        const report = judge({ ...given, sessions, linger: 60 });
        assert.equal(report.verdict, 'pass', reasonOf(report, 'retention.holds'));
      }),
    );
  });

  it('that is restarted under the load is undecided', () => {
    fc.assert(
      fc.property(simulation, fc.double({ min: 10, max: 60, noNaN: true }), (given, restartAt) => {
        // The first one makes sure that the run had begun by then.
        const sessions = [{ opened: 2, deleted: 3 }, ...given.sessions, { opened: 110, deleted: 112 }];
        assert.equal(judge({ ...given, sessions, linger: 60, restartAt }).verdict, 'inconclusive');
      }),
    );
  });
});

describe('a server that keeps deleted sessions', () => {
  it('never passes, and fails at rest by exactly as many', () => {
    fc.assert(
      fc.property(simulation, fc.integer({ min: 1, max: 5 }), (given, one) => {
        const sessions = given.sessions.map(({ opened, deleted }) => ({
          opened,
          deleted: deleted ?? opened + 1,
        }));
        const keeps = (i: number): boolean => i % one === 0;
        const report = judge({ ...given, sessions, keeps, linger: 60 });
        assert.equal(statusOf(report, 'retention.holds'), 'fail');
        assert.equal(statusOf(report, 'delete.deregisters'), 'fail');
        const kept = sessions.filter((_, i) => keeps(i)).length;
        assert.equal(report.builds[0]?.cases[0]?.sessions?.retentionDrift, kept);
        assert.notEqual(judge({ ...given, keeps: always }).verdict, 'pass');
      }),
    );
  });

  it('is found while the load still runs', () => {
    const sessions = Array.from({ length: 100 }, (_, i) => ({ opened: 1 + i, deleted: 2 + i }));
    const report = judge({
      ...{ sessions, refused: [], keeps: always, registers: never },
      ...{ interval: 15, offset: 7, linger: 0 },
    });
    assert.equal(statusOf(report, 'delete.deregisters'), 'fail');
  });
});

describe('a server whose refusals register', () => {
  it('never passes', () => {
    fc.assert(
      fc.property(simulation, (given) => {
        // One is within what the load side may have done besides.
        const refused = [...given.refused, 3, 30, 60];
        const sessions = given.sessions.map(({ opened, deleted }) => ({
          opened,
          deleted: deleted ?? opened + 1,
        }));
        const report = judge({ ...given, sessions, refused, registers: always, linger: 60 });
        assert.equal(statusOf(report, 'retention.holds'), 'fail');
      }),
    );
  });
});

describe('what a server may not be judged by', () => {
  const honest: Simulation = {
    ...{ sessions: [{ opened: 5, deleted: 6 }], refused: [], keeps: never, registers: never },
    ...{ interval: 1, offset: 0.5, linger: 30 },
  };
  const without = (read: ReturnType<typeof sampled>, name: string): ReturnType<typeof sampled> => ({
    ...read,
    servers: new Map([...read.servers].filter(([metric]) => metric !== name)),
  });
  const options = {
    ...{ run: 'r', prometheus: 'http://p', allow: {} },
    policy: { idleMaxSeconds: null, maxSessions: null },
  };

  it('counts that are missing', () => {
    const report = reportOf(without(sampled(honest), 'mcp_sessions_registered'), options);
    assert.equal(report.verdict, 'inconclusive');
    assert.match(reasonOf(report, 'retention.holds'), /no registry counts/);
  });

  it('sessions of others', () => {
    const read = sampled(honest);
    const grown = [...read.servers].map(([name, series]) =>
      name === 'mcp_session_registrations_total' || name === 'mcp_sessions_registered'
        ? ([
            name,
            series.map((one) => ({ ...one, values: one.values.map((v, i) => v + (i > 70 ? 50 : 0)) })),
          ] as const)
        : ([name, series] as const),
    );
    const report = reportOf({ ...read, servers: new Map(grown) }, options);
    assert.notEqual(report.verdict, 'fail');
  });

  it('an allowed failure is no failure', () => {
    const read = sampled({ ...honest, keeps: always });
    const allow = { 'delete.deregisters': 'known', 'retention.holds': 'known' };
    assert.equal(reportOf(read, { ...options, allow }).verdict, 'pass');
    const stale = reportOf(sampled(honest), { ...options, allow });
    assert.equal(stale.allowances[0]?.stale, true);
    assert.equal(stale.verdict, 'fail');
  });

  it('a session after the load tells whether it still serves', () => {
    const read = sampled({ ...honest, k6: { begun: 8, finished: 8 } });
    const [one] = read.load.filter(
      ({ labels }) => labels.stage === 'survival' && labels.method === 'DELETE' && labels.status === '200',
    );
    assert.ok(one);
    for (const [method, status, wanted] of [
      ['POST', '500', 'fail'],
      ['POST', '503', 'fail'],
      ['POST', '404', 'unmeasured'],
      ['DELETE', '405', 'pass'],
    ] as const) {
      const answered = { ...one, labels: { ...one.labels, method, status } };
      const report = reportOf({ ...read, load: [...read.load, answered] }, options);
      assert.equal(statusOf(report, 'survival.serves-after'), wanted, `${method} ${status}`);
      if (wanted === 'fail') assert.equal(report.verdict, 'fail');
    }
  });
});

describe('samples', () => {
  const series = (times: number[], values: number[]) => ({ labels: {}, times, values });
  it('bound a counter between them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 20 }),
        fc.integer(),
        (raw, t) => {
          const times = [...new Set(raw)].sort((a, b) => a - b);
          const one = series(times, times);
          const [before, after] = [lastAt(one, t), firstFrom(one, t)];
          assert.equal(before, times.filter((time) => time <= t).length - 1);
          assert.equal(
            after,
            times.findIndex((time) => time >= t),
          );
          assert.ok(atLeastBy([one], t) <= (atMostBy([one], t, true) ?? Infinity));
        },
      ),
    );
  });
  it('are thinned with the last one kept, and known to go back', () => {
    assert.deepEqual(thinned([1, 2, 3, 4, 5], 2), [2, 5]);
    assert.ok(goesBack(series([1, 2], [5, 3])));
    assert.ok(!goesBack(series([1, 2], [5, 5])));
  });
});
