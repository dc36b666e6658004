/** `mcp-retention exporter` as people use it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { spawnSuspect } from '../support/exporter.ts';
import { byWorker, successes } from '../support/exposition.ts';
import { cli, COMMAND, inFolder, start, type Running } from '../support/cli.ts';
import { prometheusMissing, promtool, startPrometheus } from '../support/prometheus.ts';

const onLinux = { skip: process.platform !== 'linux' };

/** The URL that it prints. */
async function served(running: Running): Promise<string> {
  assert.ok(running.child.stdout);
  const [line] = (await once(createInterface(running.child.stdout), 'line')) as [string];
  const url = /^serving (http\S+)$/.exec(line)?.[1];
  assert.ok(url !== undefined, line);
  return url;
}

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  test(`serves directories and configured targets until ${signal}, then exits 0`, async (t) =>
    inFolder(async (folder) => {
      mkdirSync(join(folder, 'shop'), { mode: 0o700 });
      mkdirSync(join(folder, 'sockets'), { mode: 0o700 });
      writeFileSync(
        join(folder, 'mcp-retention.yaml'),
        'version: 1\nexporter:\n  listen: 127.0.0.1:0\n  targets:\n    api: { probeDir: sockets, build: api 1, labels: { team: x } }\n',
      );
      const [shop, api] = await Promise.all([
        spawnSuspect(t, join(folder, 'shop')),
        spawnSuspect(t, join(folder, 'sockets')),
      ]);
      const checked = await cli(['config', 'check'], folder);
      assert.match(checked.stdout, /is valid: 0 targets, 1 target \(api\) of the exporter\n$/);
      const running = start(['exporter', '--probe-dir', 'shop'], { cwd: folder });
      const url = await served(running);
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
      const page = await (await fetch(url)).text();
      assert.deepEqual(
        [...byWorker(page, 'mcp_sessions_registered').keys()].sort(),
        [shop.pid, api.pid].map(String).sort(),
      );
      assert.match(page, new RegExp(`target="api",build="api 1",worker="${api.pid}",manager="0",team="x"`));
      assert.equal(Object.values(successes(page)).length, 4);
      if (prometheusMissing === false)
        assert.deepEqual(await promtool(['check', 'metrics'], page), { code: 0, output: '' });
      running.child.kill(signal);
      const { code, stdout } = await running.finished;
      assert.equal(code, 0);
      assert.match(stdout, /^serving /);
      await assert.rejects(fetch(url));
    }));

test('a full disk behind stderr changes neither what it serves nor its exit code', onLinux, async () =>
  inFolder(async (folder) => {
    mkdirSync(join(folder, 'shop'), { mode: 0o700 });
    const line = 'exec "$@" exporter --listen 127.0.0.1:0 --probe-dir shop 2>/dev/full';
    const running = start([], { cwd: folder, command: ['sh', '-c', line, 'sh', ...COMMAND] });
    const page = await (await fetch(await served(running))).text();
    assert.deepEqual(successes(page), { 'shop/sessions': 0, 'shop/memory': 0 });
    running.child.kill('SIGTERM');
    assert.equal((await running.finished).code, 0);
  }),
);

test('a real Prometheus reads it, in the format that it prefers', { skip: prometheusMissing }, async (t) =>
  inFolder(async (folder) => {
    mkdirSync(join(folder, 'shop'), { mode: 0o700 });
    const { pid } = await spawnSuspect(t, join(folder, 'shop'));
    const running = start(['exporter', '--probe-dir', 'shop', '--listen', '127.0.0.1:0'], { cwd: folder });
    const target = new URL(await served(running)).host;
    const prometheus = await startPrometheus({
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [{ job_name: 'mcp', static_configs: [{ targets: [target] }] }],
    });
    t.after(() => prometheus.stop());
    const drift =
      'mcp_sessions_registered - (mcp_sessions_registered_at_start + mcp_session_registrations_total - mcp_session_removals_total)';
    let found = await prometheus.query(drift);
    for (let i = 0; i < 200 && found.length === 0; i++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      found = await prometheus.query(drift);
    }
    assert.deepEqual(
      found.map(({ metric, value }) => [metric.worker, value[1]]),
      [[String(pid), '0']],
    );
    const [up] = await prometheus.query('up{job="mcp"}');
    assert.equal(up?.value[1], '1');
    running.child.kill('SIGTERM');
    assert.equal((await running.finished).code, 0);
  }),
);

describe('bad input is one sentence, exit code 2, and nothing is left running', { concurrency: 2 }, () => {
  const config = (text: string) => `version: 1\nexporter:\n  targets:\n    shop:\n      probeDir: x\n${text}`;
  const refused: [string[], string, RegExp][] = [
    [[], 'version: 1\n', /there is nothing to export: give --probe-dir DIR/],
    [['--probe-dir', 'a/x', '--probe-dir', 'b/x'], 'version: 1\n', /two probe directories are called x/],
    [['--probe-dir', 'shop'], config(''), /the target shop is in the configuration already/],
    [[], config('      labels: { worker: a }\n'), /mcp-retention\.yaml:6: .*one of the exporter's own/],
    [[], config('      label: { team: a }\n'), /mcp-retention\.yaml:\d: .*unknown key label/],
    [[], config('').replace('probeDir: x', 'probe: 127.0.0.1:0'), /:5: .*a probe listens on loopback alone/],
    [[], config('').replace('probeDir: x', 'probe: 127.999.1.1:80'), /:5: .*listens on loopback alone/],
    [['--listen', '9464'], config(''), /9464 is no address: write host:port/],
    [['--listen', 'nowhere.invalid:1'], config(''), /cannot listen on nowhere\.invalid:1/],
    [['--web-config', 'absent.yml'], config(''), /cannot read the web configuration absent\.yml \(ENOENT\)/],
    [['--config', 'absent.yaml'], config(''), /no configuration absent\.yaml/],
  ];
  for (const [args, text, sentence] of refused)
    test(`${args.join(' ')} ${JSON.stringify(text)}`, () =>
      inFolder(async (folder) => {
        writeFileSync(join(folder, 'mcp-retention.yaml'), text);
        const { code, stdout, stderr } = await cli(['exporter', ...args], folder);
        assert.equal(code, 2, stderr);
        assert.equal(stdout, '');
        assert.match(stderr, sentence);
        assert.equal(stderr.trim().split('\n').length, 1, 'one sentence');
      }));
  for (const command of ['exporter', 'check', 'load'])
    test(`${command} with an empty --probe-dir, which would be the working directory`, () =>
      inFolder(async (folder) => {
        const { code, stdout, stderr } = await cli([command, '--probe-dir', '', 'http://x/'], folder);
        assert.deepEqual([code, stdout], [2, '']);
        assert.match(stderr, /--probe-dir <dir>' argument '' is invalid\. it is empty: name a folder\./);
      }));
  test('a port that is taken', () =>
    inFolder(async (folder) => {
      const taken = createServer();
      await once(taken.listen(0, '127.0.0.1'), 'listening');
      const { port } = taken.address() as { port: number };
      const args = ['exporter', '--probe-dir', 'x', '--listen', `127.0.0.1:${port}`];
      const { code, stderr } = await cli(args, folder);
      taken.close();
      assert.equal(code, 2, stderr);
      assert.match(stderr, /another program listens there; choose another port/);
    }));
});
