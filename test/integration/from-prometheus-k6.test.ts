/** Real k6 runs, of one instance and of two, written to a real Prometheus: the verdict of their series. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
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
}

/** Plays a script, and is silent about its own verdict: thresholds are for each instance. */
async function playK6(observed: Observed, { script, target, run, instances = 1 }: Played): Promise<void> {
  const url = observed.servers[target]?.url ?? '';
  const env = { TARGET: url, TARGET_NAME: target, RUN: run, SESSIONS: '60' };
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
          ...['--tag', `instance_id=${i + 1}`, join(LOADTESTS, `${script}.ts`)],
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
      const [code] = (await once(child, 'close')) as [number];
      // 99: a threshold.
      assert.ok(code === 0 || code === 99, said);
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

test('k6 runs have the verdict of their series', { skip: missing }, async (t) => {
  const keeper = { args: ['--fault', 'delete-keeps-entry'] };
  const observed = await observe(
    t,
    {
      keeper,
      keeper2: keeper,
      clean: { args: [] },
      clean2: { args: [] },
      refuser: { args: ['--fault', 'refusals-register'] },
    },
    ['--web.enable-remote-write-receiver'],
  );
  await inFolder(async (folder) => {
    for (const one of RUNS) await playK6(observed, one);
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
      });
  });
});
