/** Real k6 runs, of one instance and of two, written to a real Prometheus: the verdict of their series. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clientOpened } from '../../src/metrics/catalogue.ts';
import { k6Names } from '../../src/metrics/k6.ts';
import { reportSchema, type Report } from '../../src/verdict/schema.ts';
import { cli, inFolder } from '../support/cli.ts';
import { K6 } from '../support/k6/run.ts';
import { observe, type Observed } from '../support/observed.ts';
import { prometheusMissing } from '../support/prometheus.ts';

const missing = prometheusMissing === false ? (K6 === null ? 'no k6 (K6_BIN)' : false) : prometheusMissing;
const LOADTESTS = fileURLToPath(new URL('../../loadtests/', import.meta.url));

interface Played {
  readonly script: string;
  readonly target: string;
  readonly run: string;
  /** How many instances share the load, as the operator starts them. */
  readonly instances?: number;
  readonly sessions?: number;
  /** Further arguments of k6. */
  readonly args?: readonly string[];
  /** It is interrupted once Prometheus has an answer to this. */
  readonly until?: string;
  /** Besides 0 and 99, which is a threshold. */
  readonly exits?: number;
}

/** Plays a script, and is silent about its own verdict: thresholds are for each instance. */
async function playK6(observed: Observed, played: Played): Promise<void> {
  const { script, target, run, instances = 1, sessions = 60, args = [], until, exits = 0 } = played;
  const url = observed.servers[target]?.url ?? '';
  const env = { TARGET: url, TARGET_NAME: target, RUN: run, SESSIONS: String(sessions) };
  const share = (i: number): string[] =>
    instances === 1
      ? []
      : [
          '--execution-segment',
          `${i}/${instances}:${i + 1}/${instances}`,
          '--execution-segment-sequence',
          Array.from({ length: instances + 1 }, (_, n) => `${n}/${instances}`).join(),
        ];
  await Promise.all(
    Array.from({ length: instances }, async (_, i) => {
      const child = spawn(
        K6 ?? '',
        [
          ...['run', '--quiet', '--address', '', '-o', 'experimental-prometheus-rw', ...share(i)],
          ...['--tag', `instance_id=${i + 1}`, ...args, join(LOADTESTS, `${script}.ts`)],
          ...Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
        ],
        {
          stdio: ['ignore', 'ignore', 'pipe'],
          env: {
            ...process.env,
            K6_NO_USAGE_REPORT: 'true',
            K6_PROMETHEUS_RW_SERVER_URL: `${observed.prometheus.url}/api/v1/write`,
            K6_PROMETHEUS_RW_PUSH_INTERVAL: '1s',
          },
        },
      );
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
      const closed = once(child, 'close') as Promise<[number]>;
      if (until !== undefined) {
        await observed.until(until);
        child.kill('SIGINT');
      }
      const [code] = await closed;
      assert.ok([0, 99, exits].includes(code), said);
    }),
  );
}

async function judge(
  observed: Observed,
  folder: string,
  run: string,
): Promise<{ code: number | null; report: Report }> {
  const file = join(folder, `${run}.json`);
  const { code, stderr } = await cli(
    ['check', '--from-prometheus', observed.prometheus.url, '--run', run, '--json', file],
    folder,
  );
  assert.equal(stderr, '');
  return { code, report: reportSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) };
}

const claims = (report: Report, wanted: string): string[] =>
  report.builds.flatMap(({ cases }) =>
    cases.flatMap((played) =>
      played.claims
        .filter(({ promised, status }) => promised && status === wanted)
        .map(({ id, reason }) => (wanted === 'unmeasured' ? `${id}: ${reason}` : id)),
    ),
  );

const RUNS: readonly (Played & { readonly fails: readonly string[] })[] = [
  { script: 'delete', target: 'keeper', run: 'kept', fails: ['delete.deregisters', 'retention.holds'] },
  { script: 'delete', target: 'clean', run: 'clean', fails: [] },
  {
    script: 'delete',
    target: 'keeper2',
    run: 'kept-by-two',
    instances: 2,
    fails: ['delete.deregisters', 'retention.holds'],
  },
  { script: 'delete', target: 'clean2', run: 'clean-by-two', instances: 2, fails: [] },
  {
    script: 'reject',
    target: 'refuser',
    run: 'refused',
    fails: ['reject.registers-nothing', 'retention.holds'],
  },
];

const QUERY = `${k6Names(clientOpened)[1]}{run="cut"}`;

/** What was not played to its end, and what the notice says of it. */
const UNFINISHED: readonly (Played & { readonly says: RegExp })[] = [
  {
    ...{ script: 'delete', target: 'clean3', run: 'aborted', args: ['--vus', '3'], exits: 108 },
    says: /The load of delete was not begun/,
  },
  {
    ...{
      script: 'delete',
      target: 'clean4',
      run: 'cut',
      sessions: 20_000,
      until: `${QUERY} > 20`,
      exits: 105,
    },
    says: /of 8 parts that it began it finished 0/,
  },
];

test('k6 runs have the verdict of their series', { skip: missing }, async (t) => {
  const keeper = { args: ['--fault', 'delete-keeps-entry'] };
  const observed = await observe(
    t,
    {
      keeper,
      keeper2: keeper,
      clean: { args: [] },
      clean2: { args: [] },
      clean3: { args: [] },
      clean4: { args: [] },
      refuser: { args: ['--fault', 'refusals-register'] },
    },
    ['--web.enable-remote-write-receiver'],
  );
  await inFolder(async (folder) => {
    for (const one of [...RUNS, ...UNFINISHED]) await playK6(observed, one);
    // k6 has written its last word when it is silent: until a scrape of the servers has come long enough after it.
    const silent = `time() - max(timestamp(k6_mcp_client_requests_total_total)) > 13`;
    await observed.until(silent);
    for (const { run, fails } of RUNS)
      await t.test(run, async () => {
        const { code, report } = await judge(observed, folder, run);
        assert.deepEqual(
          claims(report, 'fail').sort(),
          [...fails].sort(),
          claims(report, 'unmeasured').join('\n'),
        );
        assert.equal(code, fails.length > 0 ? 1 : 0, claims(report, 'unmeasured').join('\n'));
        assert.equal(report.complete, true);
      });
    for (const { run, says } of UNFINISHED)
      await t.test(run, async () => {
        const { code, report } = await judge(observed, folder, run);
        assert.deepEqual([code, report.verdict, report.complete], [3, 'inconclusive', false]);
        assert.deepEqual(claims(report, 'fail'), []);
        assert.ok(
          report.notices.some(({ text }) => says.test(text)),
          JSON.stringify(report.notices),
        );
        const passed = claims(report, 'pass');
        if (run === 'aborted') assert.deepEqual(passed, ['identity.holds']);
        assert.ok(!passed.includes('delete.deregisters') && !passed.includes('retention.holds'));
      });
  });
});
