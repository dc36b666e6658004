/** mcp-retention dashboards, as a user runs it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cli, inFolder } from '../support/cli.ts';

const FILES = [
  'build-comparison.json',
  'configmaps.yaml',
  'import/build-comparison.json',
  'import/load-run.json',
  'import/session-retention.json',
  'kustomization.yaml',
  'load-run.json',
  'prometheusrule.yaml',
  'rules/mcp-retention.rules.yml',
  'session-retention.json',
];

test('writes dashboards and rules for the labels and thresholds given', () =>
  inFolder(async (folder) => {
    const args = [
      '--selector',
      'job="fleet"',
      '--idle-max',
      '10m',
      '--runbook-url',
      'https://example.com/rb',
    ];
    const { code, stdout, stderr } = await cli(['dashboards', '--out', 'made/here', ...args], folder);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^wrote 10 files to made\/here:\n/);
    const out = join(folder, 'made/here');
    const found = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('.'),
    );
    assert.deepEqual(found.sort(), FILES);
    const dashboard = readFileSync(join(out, 'session-retention.json'), 'utf8');
    assert.match(dashboard, /mcp_sessions_registered\{job=\\"fleet\\",/);
    assert.match(dashboard, /https:\/\/example\.com\/rb/);
    const rules = readFileSync(join(out, 'rules/mcp-retention.rules.yml'), 'utf8');
    assert.match(rules, /job="fleet"/);
    assert.match(rules, /\* 0 \+ 600\b/);
    assert.match(rules, /https:\/\/example\.com\/rb#/);
  }));

test('files of other content are overwritten with --force alone', () =>
  inFolder(async (folder) => {
    const write = (...args: string[]) => cli(['dashboards', '--out', '.', ...args], folder);
    assert.equal((await write()).code, 0);
    assert.match((await write()).stdout, /^wrote 0 files to \. \(10 current already\)/);
    const mine = join(folder, 'load-run.json');
    writeFileSync(mine, 'mine');
    const refused = await write();
    assert.equal(refused.code, 2);
    assert.equal(
      refused.stderr,
      'error: load-run.json would be overwritten with other content: name another folder, or allow it with --force.\n',
    );
    assert.equal(readFileSync(mine, 'utf8'), 'mine');
    assert.match((await write('--force')).stdout, /^wrote 1 file to \. \(9 current already\)/);
    assert.notEqual(readFileSync(mine, 'utf8'), 'mine');
    // A pipe is other content, too: nobody writes to it, and it is not waited for.
    rmSync(mine);
    execFileSync('mkfifo', [mine]);
    assert.equal((await write()).code, 2);
  }));

test('a mistake is one sentence, and nothing is written', () =>
  inFolder(async (folder) => {
    writeFileSync(join(folder, 'file'), '');
    const mistakes: [string[], RegExp][] = [
      [['--out', 'out', '--selector', 'job=mcp'], /^error: --selector: /],
      [['--out', 'out', '--load-selector', '{'], /^error: --load-selector: /],
      [['--out', 'out', '--idle-max', 'soon'], /^error: --idle-max: soon is no length of time/],
      [['--out', 'out', '--idle-max', '10ms'], /^error: --idle-max: /],
      [['--out', 'out', '--scrape-interval', '0s'], /^error: --scrape-interval: /],
      [['--out', 'out', '--max-sessions', '1.5'], /^error: --max-sessions: /],
      [['--out', '/proc/x'], /^error: --out \/proc\/x cannot be used/],
      [['--out', 'out', '--runbook-url', 'wiki'], /^error: --runbook-url: wiki is no address/],
      [['--out', 'out', '--runbook-url', 'https://u:p@x.test/'], /^error: --runbook-url: it has a password/],
      [
        ['--out', 'out', '--runbook-url', 'https://x.test/#a'],
        /^error: --runbook-url: each alert adds its own/,
      ],
      [['--out', ''], /^error: option '--out <dir>' argument '' is invalid\. it is empty: name a folder\./],
      [['--out', 'file'], /^error: --out file cannot be used: .*: name a folder that can be written in\.$/m],
      [[], /^error: required option '--out <dir>' not specified/],
    ];
    const results = await Promise.all(mistakes.map(([args]) => cli(['dashboards', ...args], folder)));
    for (const [index, { code, stderr, stdout }] of results.entries()) {
      assert.equal(code, 2, stderr);
      assert.match(stderr, mistakes[index]?.[1] ?? /^$/);
      assert.equal(stdout, '');
    }
    assert.deepEqual(readdirSync(folder), ['file']);
  }));
