/** The release check against servers that keep what they should let go of, and against ones that do not. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { reportSchema, type Report } from '../../src/verdict/schema.ts';
import { cli, inFolder, oneSentence, type Finished } from '../support/cli.ts';
import { suspectsConfig } from '../support/measure.ts';

const TARGETS = {
  clean: null,
  leaky: 'delete-keeps-entry',
  dripping: 'delete-keeps-one-in',
  flaky: 'delete-twice-500',
};
/** Few sessions, and the case that the faults break. */
const SMALL = ['--case', 'delete', '--sessions', '60'];

interface Compared extends Finished {
  readonly report: Report;
}

async function compare(folder: string, args: readonly string[]): Promise<Compared> {
  const finished = await cli(['compare', ...args, '--json', 'report.json'], folder);
  assert.doesNotMatch(finished.stderr, /^error:/m);
  const report = reportSchema.parse(JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')));
  return { ...finished, report };
}

const changed = (report: Report, change: string): string[] =>
  (report.comparison?.changes ?? []).filter((one) => one.change === change).map((one) => one.claim);

async function withTargets(use: (folder: string) => Promise<void>, more: object = {}): Promise<void> {
  await inFolder(async (folder) => {
    writeFileSync(join(folder, 'mcp-retention.yaml'), suspectsConfig(TARGETS, more));
    await use(folder);
  });
}

describe('two builds', { concurrency: 2 }, () => {
  test('a candidate that keeps what the baseline let go of fails', () =>
    withTargets(async (folder) => {
      const { code, report } = await compare(folder, ['clean', 'leaky', ...SMALL]);
      assert.equal(code, 1);
      assert.equal(report.verdict, 'fail');
      assert.deepEqual(changed(report, 'regressed'), ['delete.deregisters']);
      assert.deepEqual(changed(report, 'fixed'), []);
    }));

  test('one that lets go of what the baseline kept passes, and the claim is fixed', () =>
    withTargets(async (folder) => {
      const { code, report } = await compare(folder, ['leaky', 'clean', ...SMALL]);
      assert.equal(code, 0);
      assert.deepEqual(changed(report, 'fixed'), ['delete.deregisters']);
      assert.deepEqual(changed(report, 'regressed'), []);
    }));

  test('a build against itself has two names and no change', () =>
    withTargets(async (folder) => {
      const { code, report } = await compare(folder, ['clean', 'clean', ...SMALL]);
      assert.equal(code, 0);
      assert.deepEqual(
        report.builds.map((build) => build.name),
        ['clean (baseline)', 'clean (candidate)'],
      );
      assert.deepEqual(new Set(report.comparison?.changes.map((one) => one.change)), new Set(['same']));
    }));

  test('what both fail is no regression, unless the candidate keeps more', () =>
    withTargets(async (folder) => {
      const same = await compare(folder, ['leaky', 'leaky', ...SMALL]);
      assert.equal(same.code, 0);
      const more = await compare(folder, ['dripping', 'leaky', ...SMALL]);
      assert.equal(more.code, 1);
      assert.deepEqual(changed(more.report, 'regressed'), ['delete.deregisters']);
      const fewer = await compare(folder, ['leaky', 'dripping', ...SMALL]);
      assert.equal(fewer.code, 0);
    }));

  test('a candidate that does not start leaves it undecided', () =>
    inFolder(async (folder) => {
      const broken = {
        command: process.execPath,
        args: ['-e', 'process.exit(1)'],
        url: 'http://127.0.0.1:{port}/mcp',
      };
      writeFileSync(join(folder, 'mcp-retention.yaml'), suspectsConfig({ clean: null }, {}, { broken }));
      const { code, report } = await compare(folder, ['clean', 'broken', ...SMALL]);
      assert.equal(code, 3);
      assert.ok(report.comparison?.changes.every((one) => one.open));
    }));
});

describe('a baseline from an earlier run', { concurrency: 2 }, () => {
  test('is written by --baseline update, gives the same findings, and sets the work', () =>
    withTargets(async (folder) => {
      const update = ['--baseline', 'update'];
      const first = await cli(
        ['compare', 'base.ndjson', 'clean', ...SMALL, '--seed', '7', ...update],
        folder,
      );
      assert.equal(first.code, 0, first.stderr);
      assert.match(first.stderr, /no baseline base\.ndjson yet/);
      const size = statSync(join(folder, 'base.ndjson')).size;

      const worse = await compare(folder, ['base.ndjson', 'leaky']);
      assert.equal(worse.code, 1);
      assert.deepEqual(changed(worse.report, 'regressed'), ['delete.deregisters']);
      assert.equal(worse.report.comparison?.origins.baseline?.seed, 7);
      assert.deepEqual(
        worse.report.builds.map((build) => build.cases.map((played) => [played.id, played.size.sessions])),
        [[['delete', 60]], [['delete', 60]]],
      );
      assert.equal(statSync(join(folder, 'base.ndjson')).size, size, 'kept');

      const accepted = await compare(folder, ['base.ndjson', 'leaky', ...update]);
      assert.equal(accepted.code, 1);
      assert.equal((await compare(folder, ['base.ndjson', 'leaky'])).code, 0);
    }));

  test('two recordings are compared without any server', () =>
    withTargets(async (folder) => {
      for (const target of ['clean', 'leaky'])
        await cli(['check', target, ...SMALL, '--out', target], folder);
      const offline = await compare(folder, ['./clean', 'leaky/recording.ndjson', '--out', 'both']);
      assert.equal(offline.code, 1);
      assert.deepEqual(changed(offline.report, 'regressed'), ['delete.deregisters']);
      assert.deepEqual(readdirSync(join(folder, 'both', 'logs')), [], 'nothing was started');
      const again = await cli(['report', 'both/recording.ndjson', '--json', 'again.json'], folder);
      assert.equal(again.code, 1);
      assert.deepEqual(JSON.parse(readFileSync(join(folder, 'again.json'), 'utf8')), offline.report);
    }));
});

describe('allowed failures', () => {
  const allow = { 'delete.deregisters': 'we run behind a recycling worker' };
  test('do not fail the check, and one that nothing needs any more does', () =>
    withTargets(
      async (folder) => {
        const needed = await cli(['check', 'leaky', ...SMALL], folder);
        assert.equal(needed.code, 0, needed.stdout);
        const stale = await cli(['check', 'clean', ...SMALL], folder);
        assert.equal(stale.code, 1, stale.stdout);
        const compared = await compare(folder, ['clean', 'leaky', ...SMALL]);
        assert.equal(compared.code, 0);
        assert.deepEqual(compared.report.allowances, [
          { claim: 'delete.deregisters', reason: allow['delete.deregisters'], stale: false },
        ]);
      },
      { allow },
    ));

  test('must name a claim and a reason', () =>
    inFolder(async (folder) => {
      const config = (allowed: object) =>
        writeFileSync(
          join(folder, 'mcp-retention.yaml'),
          suspectsConfig({ clean: null }, { allow: allowed }),
        );
      config({ 'delete.deregister': 'why' });
      oneSentence(
        await cli(['check', 'clean'], folder),
        2,
        /allow\.delete\.deregister is no claim: delete claims /,
      );
      oneSentence(await cli(['config', 'check'], folder), 2, /allow\.delete\.deregister is no claim/);
      config({ 'delete.deregisters': '' });
      oneSentence(await cli(['check', 'clean'], folder), 2, /allow\.delete\.deregisters: say why/);
    }));
});

describe('bad input', { concurrency: 2 }, () => {
  const refused: [string[], RegExp][] = [
    [['clean'], /missing required argument 'candidate'/],
    [['absent.ndjson', 'clean'], /no recording absent\.ndjson/],
    [['clean', 'clean', '--baseline', 'update'], /clean is no recording's path/],
    [
      ['x/y/base.ndjson', 'clean', '--baseline', 'update'],
      /the baseline x\/y\/base\.ndjson cannot be written/,
    ],
    [['clean', 'clean', '--fail-on', 'performance'], /add --performance/],
    [['clean', 'clean', '--performance', 'fast'], /seconds from 1 to 3600/],
    [['clean', 'clean', '--smallest-effect', '0'], /percent from 1 to 100/],
    [['http://127.0.0.1:1/mcp', 'http://127.0.0.1:2/mcp', '--pid', '1'], /--pid speaks of one server/],
    [['clean', 'clean', '--smallest-effect', '5'], /--smallest-effect needs speed.*add --performance/],
    [['mcp-retention.yaml/x', 'clean'], /There is no target mcp-retention\.yaml\/x in the configuration/],
    [['x'.repeat(5000), 'clean'], /There is no target x+ in the configuration/],
    [['/dev/null', 'clean'], /\/dev\/null is empty: it is no recording/],
    [['/dev/null', 'clean', '--baseline', 'update'], /the baseline \/dev\/null is no file/],
    [['mcp-retention.yaml', 'clean'], /is no recording: its first line is not a header/],
  ];
  for (const [args, sentence] of refused)
    test(args.join(' '), () =>
      withTargets(async (folder) => oneSentence(await cli(['compare', ...args], folder), 2, sentence)),
    );
});
