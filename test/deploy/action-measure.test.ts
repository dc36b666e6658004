/** The steps of action.yml that measure: run as a runner does. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { Runner, type GhWorld } from '../support/action.ts';
import { COMMAND } from '../support/cli.ts';
import { readProjectFile } from '../support/compose.ts';
import { suspectConfig } from '../support/measure.ts';

const runner = new Runner();
after(() => runner.end());

const ARTIFACTS = 'repos/shop/server/actions/artifacts?per_page=100&name=mcp-retention';
const artifact = (id: number, fields: object = {}): object => ({
  created_at: `2026-11-${String(id).padStart(2, '0')}T00:00:00Z`,
  expired: false,
  workflow_run: { id, head_branch: 'main', head_repository_id: 1, repository_id: 1 },
  ...fields,
});
const finished = (conclusion: string, event = 'push'): object => ({ conclusion, event });

describe('the baseline', () => {
  const find = (gh: GhWorld, env: Record<string, string> = {}) =>
    runner.step(
      'find-baseline.mjs',
      { ARTIFACT: 'mcp-retention', ...env },
      {
        gh,
        event: { repository: { default_branch: 'main' } },
      },
    );

  test('is the recording of the last successful run on the default branch', async () => {
    const fork = { id: 9, head_branch: 'main', head_repository_id: 2, repository_id: 1 };
    const { outputs } = await find({
      answers: {
        [ARTIFACTS]: {
          artifacts: [
            artifact(3),
            artifact(4, { workflow_run: { ...fork, id: 4, head_branch: 'feature', head_repository_id: 1 } }),
            artifact(5),
            artifact(6),
            artifact(7, { expired: true }),
            artifact(8),
            artifact(9, { workflow_run: fork }),
          ],
        },
        'repos/shop/server/actions/runs/3': finished('success'),
        'repos/shop/server/actions/runs/5': finished('success', 'schedule'),
        'repos/shop/server/actions/runs/6': finished('success', 'pull_request'),
        'repos/shop/server/actions/runs/8': finished('failure'),
      },
      artifacts: { 5: { 'recording.ndjson': '{}' } },
    });
    assert.match(outputs.baseline ?? '', /mcp-retention-baseline-.*\/recording\.ndjson$/);
    assert.ok(existsSync(outputs.baseline ?? ''));
    assert.equal(outputs.why, '');
  });

  test('is what is given, and then nothing is asked', async () => {
    const { outputs } = await find({ fail: 'no', failOn: '' }, { BASELINE: ' python:mcp@1.30.0 ' });
    assert.equal(outputs.baseline, 'python:mcp@1.30.0');
  });

  const without: [string, GhWorld, RegExp][] = [
    [
      'there is none',
      { answers: { [ARTIFACTS]: { artifacts: [] } } },
      /::notice .*no successful run on main/,
    ],
    [
      'the API fails',
      { fail: 'gh: Server Error (HTTP 502)\nmore', failOn: 'api' },
      /::warning .*HTTP 502\)\)\. The/,
    ],
    [
      'the download fails',
      {
        answers: {
          [ARTIFACTS]: { artifacts: [artifact(3)] },
          'repos/shop/server/actions/runs/3': finished('success'),
        },
        fail: 'no such artifact',
        failOn: 'download',
      },
      /::warning .*no such artifact/,
    ],
    [
      'the artifact has no recording',
      {
        answers: {
          [ARTIFACTS]: { artifacts: [artifact(3)] },
          'repos/shop/server/actions/runs/3': finished('success'),
        },
      },
      /::warning .*run 3 has no recording/,
    ],
  ];
  for (const [name, world, message] of without)
    test(`is none where ${name}: that is said, and fails nothing`, async () => {
      const { code, outputs, stdout } = await find(world);
      assert.equal(code, 0, stdout);
      assert.equal(outputs.baseline, '');
      assert.match(outputs.why ?? '', /The candidate is measured alone\.$/);
      assert.match(stdout, message);
    });

  test('is looked for on the branch and under the name that are given', async () => {
    const { stdout } = await find(
      { answers: { [ARTIFACTS.replace('mcp-retention', 'a%20b')]: { artifacts: [artifact(3)] } } },
      { ARTIFACT: 'a b', DEFAULT_BRANCH: 'trunk' },
    );
    assert.match(stdout, /no successful run on trunk has left an artifact a b/);
  });
});

describe('the measurement', () => {
  const files = { 'report.json': '{"verdict":"fail"}', 'report.md': 'text', 'recording.ndjson': '' };

  test('compares with what was found, and hands its exit code and paths on', async () => {
    const env = {
      BASELINE: 'base.ndjson',
      CANDIDATE: 'mine; rm -rf',
      CONFIG: 'c.yaml',
      CASES: 'delete, reject\nabandon',
      SESSIONS: '30',
      PERFORMANCE: '90',
      FAIL_ON: 'performance',
      ARGS: '--seed\n7\n\n--header\nA: b c',
    };
    const { code, outputs, asked } = await runner.step('measure.mjs', env, { npm: { code: 1, files } });
    assert.equal(code, 0);
    const { folder = '' } = outputs;
    const version = (JSON.parse(readProjectFile('package.json')) as { version: string }).version;
    assert.deepEqual(asked, [
      ...['exec', '--yes', `--package=mcp-retention@${version}`, '--', 'mcp-retention', 'compare'],
      ...[
        '--config',
        'c.yaml',
        '--case',
        'delete',
        '--case',
        'reject',
        '--case',
        'abandon',
        '--sessions',
        '30',
      ],
      ...['--performance', '90', '--fail-on', 'performance', '--seed', '7', '--header', 'A: b c'],
      ...['--out', folder, '--', 'base.ndjson', 'mine; rm -rf'],
    ]);
    assert.deepEqual([outputs['exit-code'], outputs.verdict], ['1', 'fail']);
    assert.equal(outputs.markdown, `${folder}/report.md`);
    assert.equal(outputs.html, '');
  });

  test('checks the candidate alone without a baseline, and does not look at speed then', async () => {
    const env = {
      BASELINE: '',
      CANDIDATE: 'mine',
      PERFORMANCE: 'true',
      FAIL_ON: 'performance',
      VERSION: 'installed',
    };
    const { asked, outputs } = await runner.step('measure.mjs', env, { npm: { code: 0, files } });
    assert.deepEqual(asked, [
      'exec',
      '--no',
      '--',
      'mcp-retention',
      'check',
      '--out',
      outputs.folder,
      '--',
      'mine',
    ]);
  });

  test('is undecided where npm cannot install the tool', async () => {
    const { outputs } = await runner.step('measure.mjs', { CANDIDATE: 'mine' }, { npm: { code: 1 } });
    assert.deepEqual([outputs['exit-code'], outputs.verdict, outputs.report], ['3', '', '']);
  });

  test('runs the real command: the recording of one check is the baseline of the next', async () => {
    const config = runner.path('mcp-retention.yaml');
    const measure = async (fault: string | null, baseline: string) => {
      writeFileSync(config, suspectConfig(fault));
      const env = {
        BASELINE: baseline,
        CANDIDATE: 'suspect',
        CONFIG: config,
        CASES: 'delete',
        SESSIONS: '20',
      };
      return (await runner.step('measure.mjs', env, { npm: { command: COMMAND } })).outputs;
    };
    const first = await measure(null, '');
    assert.deepEqual([first['exit-code'], first.verdict], ['0', 'pass']);
    const second = await measure('delete-keeps-entry', first.recording ?? '');
    assert.deepEqual([second['exit-code'], second.verdict], ['1', 'fail']);
    for (const name of ['report', 'markdown', 'junit', 'recording']) assert.notEqual(second[name], '', name);
  });
});
