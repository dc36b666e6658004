/** check --from-prometheus against a real Prometheus that scraped a real run, beside the direct check's verdict. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { reportSchema, type ClaimReport, type Report } from '../../src/verdict/schema.ts';
import { cli, inFolder, start } from '../support/cli.ts';
import { observe, type Observed } from '../support/observed.ts';
import { prometheusMissing } from '../support/prometheus.ts';

const ARRIVALS = '100';
const MIX = 'delete=60,abandon=20,reject=20';

/** Plays a mixed load on all targets and lingers until its last counts have been scraped. */
async function playLoad(
  observed: Observed,
  folder: string,
  run: string,
  names: readonly string[],
): Promise<void> {
  const { config, loadAddress } = observed;
  const running = start(
    [
      'load',
      ...names,
      ...['--config', config, '--run', run, '--metrics-listen', loadAddress],
      ...['--sessions', ARRIVALS, '--rate', '12', '--mix', MIX, '--linger', '6s'],
    ],
    { cwd: folder },
  );
  // On a slow machine arrivals are left out, which is the load's own matter: exit code 3.
  const { code, stderr } = await running.finished;
  assert.ok(code === 0 || code === 3, stderr);
}

interface Judged {
  readonly code: number | null;
  readonly report: Report;
  readonly stderr: string;
}

async function judge(observed: Observed, folder: string, ...args: readonly string[]): Promise<Judged> {
  const file = join(folder, `report-${String(Math.random()).slice(2)}.json`);
  const { code, stderr } = await cli(
    ['check', '--from-prometheus', observed.prometheus.url, '--json', file, ...args],
    folder,
  );
  assert.equal(stderr, '');
  return { code, stderr, report: reportSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) };
}

const claimsOf = ({ builds }: Report): ClaimReport[] =>
  builds.flatMap((build) => build.cases.flatMap((played) => played.claims));

const failed = (report: Report): string[] =>
  claimsOf(report)
    .filter(({ status, promised }) => promised && status === 'fail')
    .map(({ id }) => id);
const unmeasured = (report: Report): ClaimReport[] =>
  claimsOf(report).filter(({ status, promised }) => promised && status === 'unmeasured');

/** Target → the suspect's arguments, and what must fail. */
const GUILTY: Readonly<Record<string, { args: readonly string[]; fails: readonly string[] }>> = {
  keeper: { args: ['--fault', 'delete-keeps-entry'], fails: ['retention.holds', 'delete.deregisters'] },
  somekept: {
    args: ['--fault', 'delete-keeps-one-in', '--fault-rate', '10'],
    fails: ['retention.holds', 'delete.deregisters'],
  },
  refuser: { args: ['--fault', 'refusals-register'], fails: ['retention.holds', 'reject.registers-nothing'] },
  eternal: { args: ['--fault', 'never-expires', '--idle-timeout', '1'], fails: ['retention.holds'] },
  liar: { args: ['--fault', 'probe-lies'], fails: ['identity.holds'] },
};
const CLEAN: Readonly<Record<string, { args: readonly string[] }>> = {
  clean: { args: [] },
  quick: { args: ['--idle-timeout', '1'] },
};

test(
  'the verdict of a run is that of its series, for guilty and clean servers',
  { skip: prometheusMissing },
  async (t) => {
    const observed = await observe(t, { ...GUILTY, ...CLEAN, hidden: { args: [], exported: false } });
    await inFolder(async (folder) => {
      const names = Object.keys(observed.servers);
      await playLoad(observed, folder, 'r1', names);
      for (const [target, { fails }] of Object.entries(GUILTY))
        await t.test(`${target} is guilty`, () => guilty(observed, folder, target, fails));
      for (const target of Object.keys(CLEAN))
        await t.test(`${target} is clean`, () => clean(observed, folder, target));
      await t.test('without an exporter the registry is unmeasured', () => hidden(observed, folder));
      await t.test('a run or a target that is not there is no pass', () => nowhere(observed, folder));
      await t.test('formats', () => formats(observed, folder));
      for (const target of ['keeper', 'clean'])
        await t.test(`${target}: as the direct check`, () => asDirectly(observed, folder, target));
    });
  },
);

async function guilty(
  observed: Observed,
  folder: string,
  target: string,
  fails: readonly string[],
): Promise<void> {
  const { code, report } = await judge(observed, folder, '--run', 'r1', '--target', target);
  assert.deepEqual(failed(report).sort(), [...fails].sort(), JSON.stringify(unmeasured(report), null, 1));
  assert.equal(report.verdict, 'fail');
  assert.equal(code, 1);
}

async function clean(observed: Observed, folder: string, target: string): Promise<void> {
  const { code, report } = await judge(observed, folder, '--run', 'r1', '--target', target);
  assert.deepEqual(unmeasured(report), []);
  assert.deepEqual(failed(report), []);
  assert.equal(report.verdict, 'pass');
  assert.equal(code, 0);
  const whole = report.builds[0]?.cases.find(({ id }) => id === 'together');
  assert.ok((whole?.ledger.opened ?? 0) > 60, 'the load was played');
  assert.equal(whole?.sessions?.retentionDrift, 0);
  assert.ok((whole.memory.peakBytes ?? 0) > 0, 'memory is there as evidence');
}

async function hidden(observed: Observed, folder: string): Promise<void> {
  const { code, report } = await judge(observed, folder, '--run', 'r1', '--target', 'hidden');
  assert.equal(code, 3);
  assert.ok(unmeasured(report).some(({ id, reason }) => id === 'retention.holds' && /exporter/.test(reason)));
}

async function nowhere(observed: Observed, folder: string): Promise<void> {
  const { url } = observed.prometheus;
  const cases: [readonly string[], number, RegExp][] = [
    [['--run', 'r2'], 3, /has no series of run r2 between/],
    [['--run', 'r1', '--target', 'nobody'], 3, /has no series of run r1 at target nobody/],
    [['--run', 'r1', '--to', '2020-01-01T00:00:00Z'], 3, /has no series of run r1/],
    [[], 2, /needs --run ID/],
    [['--run', 'r1', '--sessions', '3'], 2, /--sessions goes with a check that plays cases/],
    [['--run', 'r1', '--allow-host', 'x'], 2, /--allow-host goes with a check that plays/],
    [['--run', 'r1', 'clean'], 2, /takes no target to play/],
    [['--run', 'r1', '--selector', 'job='], 2, /--selector/],
  ];
  for (const [args, wanted, sentence] of cases) {
    const { code, stderr } = await cli(['check', '--from-prometheus', url, ...args], folder);
    assert.match(stderr, sentence);
    assert.equal(code, wanted, stderr);
  }
}

/** The same server, played by `check` itself. */
async function asDirectly(observed: Observed, folder: string, target: string): Promise<void> {
  const file = join(folder, `direct-${target}.json`);
  const { url, pid } = observed.servers[target] ?? { url: '', pid: 0 };
  const { code, stderr } = await cli(
    [
      ...['check', url, '--probe-dir', observed.probeDirs[target] ?? '', '--pid', String(pid)],
      ...['--case', 'delete', '--sessions', '40', '--json', file],
    ],
    folder,
  );
  const direct = reportSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const { code: sampledCode, report } = await judge(observed, folder, '--run', 'r1', '--target', target);
  assert.deepEqual([sampledCode, report.verdict], [code, direct.verdict], stderr);
  const shared = ['delete.accepted', 'delete.deregisters', 'identity.holds', 'survival.serves-after'];
  for (const id of shared) {
    const statuses = [direct, report].map((one) => claimsOf(one).find((claim) => claim.id === id)?.status);
    assert.equal(statuses[0], statuses[1], id);
  }
}

async function formats(observed: Observed, folder: string): Promise<void> {
  const file = (name: string): string => join(folder, name);
  const { code, stdout } = await cli(
    [
      ...['check', '--from-prometheus', observed.prometheus.url, '--run', 'r1', '--target', 'keeper'],
      ...['--markdown', file('r.md'), '--selector', 'job="exporter"', '--window', '1h'],
    ],
    folder,
  );
  assert.equal(code, 1);
  assert.match(stdout, /delete\.deregisters/);
  assert.match(readFileSync(file('r.md'), 'utf8'), /retention\.holds/);
}

test('a run that has not come to rest is no pass', { skip: prometheusMissing }, async (t: TestContext) => {
  const observed = await observe(t, { busy: { args: [] } });
  await inFolder(async (folder) => {
    const running = start(
      [
        ...[
          'load',
          'busy',
          '--config',
          observed.config,
          '--run',
          'r1',
          '--metrics-listen',
          observed.loadAddress,
        ],
        ...['--rate', '40', '--mix', 'delete=1', '--duration', '60s'],
      ],
      { cwd: folder },
    );
    await observed.until('mcp_client_sessions_deleted_total > 40');
    const { code, report } = await judge(observed, folder, '--run', 'r1');
    assert.equal(code, 3);
    assert.ok(unmeasured(report).some(({ reason }) => /come to rest/.test(reason)));
    running.child.kill('SIGTERM');
    await running.finished;
  });
});
