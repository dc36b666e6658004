/** A sustained load against servers that count for themselves. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { planOfArrival, type Mix } from '../../src/cases/mixed.ts';
import type { LoadSummary } from '../../src/load/options.ts';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { startStub, type Stub, type StubOptions } from '../fixtures/servers/stub.ts';
import { startSuspect } from '../fixtures/servers/suspect.ts';
import { eventually } from '../support/client.ts';
import { only, startLoad, stopLoads, type LoadUnderTest, type TestedOptions } from '../support/load.ts';
import { suspectConfig } from '../support/measure.ts';
import { prometheusMissing, promtool } from '../support/prometheus.ts';

afterEach(stopLoads);

async function withStubs(
  options: readonly StubOptions[],
  body: (stubs: readonly [Stub, ...Stub[]]) => Promise<void>,
): Promise<void> {
  const stubs = await Promise.all(options.map((one) => startStub({ record: true, ...one })));
  try {
    await body(stubs as [Stub, ...Stub[]]);
  } finally {
    await Promise.all(stubs.map((stub) => stub.close()));
  }
}

/** Compares what is expected with what the server counts, in the same moment, until the load is over. */
async function alwaysInside(load: LoadUnderTest, target: string, live: () => number): Promise<LoadSummary> {
  let over = false;
  const done = load.done.finally(() => (over = true));
  let readings = 0;
  while (!over) {
    // publish() reads the ledgers at once; get() then gives what was read.
    const reading = load.expected(target);
    const count = live();
    const { min, max } = await reading;
    assert.ok(min <= count && count <= max, `${count} live, ${min} to ${max} expected`);
    readings++;
    for (let i = 0; i < 20 && !over; i++) await turn();
  }
  assert.ok(readings > 100, `${readings} readings`);
  return done;
}

const QUICK: Mix = { delete: 60, abandon: 20, reject: 10, 'over-cap': 5 };

test('what is expected is always what a server with an idle timeout and a cap has registered', async () => {
  const server = await startSuspect({ idleTimeout: 1, maxSessions: 25 });
  const registered = (): number => server.snapshot().managers[0]?.registered ?? NaN;
  const config = JSON.stringify({
    version: 1,
    targets: { it: { url: server.url, declared: { idleTimeout: 1, maxSessions: 25 } } },
  });
  try {
    const load = startLoad(
      [{ target: 'it' }],
      { rate: 60, duration: 5, mix: { ...QUICK, 'keep-alive': 5 } },
      config,
    );
    const { targets } = await alwaysInside(load, 'it', registered);
    assert.equal(targets[0]?.failure, null);
    const refused = await load.value('mcp_client_sessions_refused_total', { reason: 'over-cap' });
    assert.equal(refused, server.snapshot().managers[0]?.rejections);
    assert.ok(refused > 0, 'the cap was met');
    assert.equal(registered(), 0);
  } finally {
    await server.close();
  }
});

for (const [what, restart] of [
  ['forgets its sessions', (stub: Stub) => stub.forget()],
  ['loses every connection', (stub: Stub) => stub.endStreams('cut')],
] as const)
  test(`a server that ${what} unseen: once a session is unknown, none is taken for granted`, async () => {
    await withStubs([{}], async ([stub]) => {
      const load = startLoad([{ target: stub.url }], { rate: 40, mix: { abandon: 1, 'keep-alive': 1 } });
      await eventually(() => stub.counts().live > 30, 'sessions are there');
      const before = stub.counts().live;
      restart(stub);
      if (stub.counts().live === 0) {
        // Only a session that is used can tell; until then the load cannot know.
        await eventually(() => stub.counts().received.lastIndexOf('tools/call') >= 0, 'a call arrives');
        const deadline = performance.now() + 20_000;
        for (let expected = before; expected > stub.counts().live;) {
          expected = (await load.expected(stub.url)).min;
          assert.ok(performance.now() < deadline, `still ${expected} expected`);
          await turn();
        }
      }
      load.stop();
      const { expected } = await only(load.done);
      const { live } = stub.counts();
      assert.ok(expected.min <= live && live <= expected.max);
    });
  });

test('every target gets the same sessions in the same order', async () => {
  await withStubs([{}, {}], async (stubs) => {
    const targets = stubs.map(({ url }) => ({ target: url }));
    const load = startLoad(targets, { rate: 100, sessions: 150, mix: QUICK, seed: 9 });
    const summary = await load.done;
    const [one, other] = stubs.map((stub) => stub.counts());
    assert.deepEqual([...(one?.received ?? [])].sort(), [...(other?.received ?? [])].sort());
    const [first, second] = summary.targets.map(({ counts }) => counts);
    assert.deepEqual(first, second);
  });
});

test('--sessions is exact, and on a server that someone else runs nothing is left behind', async () => {
  await withStubs([{}], async ([stub]) => {
    const options: TestedOptions = { rate: 200, sessions: 300, mix: QUICK, seed: 4 };
    const load = startLoad([{ target: stub.url }], options);
    const { counts, arrivals, late, expected, leftBehind } = await only(load.done);
    const planned = Array.from({ length: 300 }, (_, i) => planOfArrival(4, i, QUICK));
    const sessions = planned.reduce(
      (sum, { kind, plans }) => sum + (kind === 'reject' ? 0 : plans.length),
      0,
    );
    const of = (kind: string): number => planned.filter((arrival) => arrival.kind === kind).length;
    assert.deepEqual([arrivals, late, leftBehind], [300, 0, 0]);
    assert.deepEqual(counts, {
      opened: sessions,
      deleted: sessions,
      abandoned: of('abandon'),
      refused: of('reject'),
      uncertain: 0,
    });
    // One more was opened and deleted to see whether there is a server at all.
    assert.deepEqual([stub.counts().opened, stub.counts().live], [sessions + 1, 0]);
    assert.deepEqual(expected, { min: 0, max: 0 });
  });
});

test('a signal ends it in order: waits are cut, and every session is deleted', async () => {
  await withStubs([{}], async ([stub]) => {
    const mix: Mix = { abandon: 1, 'keep-alive': 2, 'over-cap': 1 };
    const load = startLoad([{ target: stub.url }], { rate: 80, mix });
    await eventually(() => stub.counts().open > 20 && stub.counts().live > 40, 'streams are open');
    load.stop();
    const { counts, leftBehind } = await only(load.done);
    assert.equal(stub.counts().live, 0);
    assert.equal(counts.deleted, counts.opened);
    assert.equal(leftBehind, 0);
  });
});

test('arrivals that find no place are left out, counted and said', async () => {
  await withStubs([{ delayMs: 400 }], async ([stub]) => {
    const load = startLoad([{ target: stub.url }], {
      rate: 50,
      sessions: 60,
      maxInFlight: 3,
      mix: { delete: 1 },
    });
    const { arrivals, late, counts } = await only(load.done);
    assert.equal(arrivals, 60);
    assert.ok(late > 20, `${late} late`);
    assert.equal(counts.opened, arrivals - late);
    assert.equal(await load.value('mcp_client_arrivals_late_total', { reason: 'full' }), late);
    assert.equal(await load.value('mcp_client_arrivals_late_total', { reason: 'behind' }), 0);
  });
});

test('a URL that goes away is used again when it comes back', async () => {
  const first = await startSuspect();
  const port = Number(new URL(first.url).port);
  const load = startLoad([{ target: first.url }], { rate: 40, mix: { abandon: 1, delete: 1 } });
  await eventually(() => (first.snapshot().managers[0]?.registered ?? 0) > 20, 'sessions are there');
  await first.close();
  const unsent = (): Promise<number> => load.value('mcp_client_requests_total', { status: '0' });
  while ((await unsent()) < 5) await turn();
  const second = await startSuspect({ port });
  try {
    const registered = (): number => second.snapshot().managers[0]?.registered ?? NaN;
    await eventually(() => registered() > 20, 'it is used again');
    // What the first one held may be there or not, by all that the load side can know.
    const reading = load.expected(first.url);
    const now = registered();
    const { min, max } = await reading;
    assert.ok(min <= now && now <= max, `${now} in ${min}..${max}`);
    assert.ok(max > min);
    load.stop();
    const { failure, counts } = await only(load.done);
    assert.equal(failure, null);
    assert.ok(counts.opened > 40);
    assert.equal(registered(), 0);
  } finally {
    await second.close();
  }
});

test('a server that we started and that dies is not started again; the other goes on', async () => {
  await withStubs([{}], async ([stub]) => {
    const load = startLoad(
      [{ target: 'suspect' }, { target: stub.url }],
      { rate: 40, mix: { delete: 1 } },
      suspectConfig('dies-after-delete'),
    );
    const opened = (): number => stub.counts().opened;
    let gone = false;
    while (!gone) {
      const { max } = await load.expected('suspect');
      gone =
        opened() > 40 &&
        max === 0 &&
        (await load.value('mcp_client_sessions_opened_total', { target: 'suspect' })) > 0;
      await turn();
    }
    const then = opened();
    await eventually(() => opened() > then + 20, 'the other one goes on');
    load.stop();
    const { targets } = await load.done;
    const [died, other] = ['suspect', stub.url].map((name) => targets.find(({ target }) => target === name));
    assert.match(died?.failure ?? '', /^suspect ended with exit code/);
    assert.deepEqual(died?.expected, { min: 0, max: 0 });
    assert.equal(other?.failure, null);
    assert.equal(stub.counts().live, 0);
  });
});

test('a URL where nobody opens sessions is said in one sentence', async () => {
  await withStubs([{ fault: 'html' }], async ([stub]) => {
    const load = startLoad([{ target: stub.url }], {});
    await assert.rejects(load.done, /does not open an MCP session/);
  });
});

test(
  'the metrics are valid, of the catalogue, and bear no session id',
  { skip: prometheusMissing },
  async () => {
    await withStubs([{ echoIds: true }], async ([stub]) => {
      const load = startLoad([{ target: `${stub.url}?token=hush` }], { rate: 100, sessions: 60, mix: QUICK });
      await load.done;
      load.metrics.publish();
      const text = await load.metrics.registry.metrics();
      const checked = await promtool(['check', 'metrics'], text);
      assert.deepEqual(checked, { code: 0, output: '' });
      const known = new Set(CATALOGUE.map(({ name }) => name));
      const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1] ?? '');
      assert.ok(names.every((name) => known.has(name)));
      const fromLoad = CATALOGUE.filter(({ name }) => name.startsWith('mcp_client_')).map(({ name }) => name);
      assert.deepEqual(names.sort(), fromLoad.sort());
      assert.doesNotMatch(text, /[0-9a-f]{8}-[0-9a-f]{4}|hush/);
      for (const series of text.split('\n').filter((line) => line !== '' && !line.startsWith('#')))
        for (const label of ['target', 'build', 'case', 'run'])
          assert.match(series, new RegExp(`[{,]${label}="`));
    });
  },
);
