/** `load` as a user runs it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { startStub, type Stub, type StubOptions } from '../fixtures/servers/stub.ts';
import { cli, inFolder, start } from '../support/cli.ts';
import { eventually } from '../support/client.ts';

const QUIET = ['--metrics-listen', '127.0.0.1:0'];

async function withStub(
  options: StubOptions,
  body: (stub: Stub, folder: string) => Promise<void>,
): Promise<void> {
  const stub = await startStub(options);
  try {
    await inFolder((folder) => body(stub, folder));
  } finally {
    await stub.close();
  }
}

for (const [what, args, says] of [
  ['an unknown kind', ['--mix', 'delete=1,bogus=2'], /no kind bogus: known are delete/],
  ['a share of nothing', ['--mix', 'delete=0'], /share of delete must be a positive number/],
  ['a rate of 0', ['--rate', '0'], /above 0/],
  ['a duration without a unit', ['--duration', 'soon'], /length of time such as 90s/],
  ['an address that is none', ['--metrics-listen', 'here'], /here is no address/],
  [
    'another host',
    ['--allow-host', 'elsewhere', 'http://192.0.2.1/mcp', ...QUIET],
    /192.0.2.1 is not this machine/,
  ],
  ['the same target twice', ['http://127.0.0.1:1/mcp', ...QUIET], /stands twice/],
  [
    'a probe directory without a name',
    ['--probe-dir', 'http://127.0.0.1:1/mcp=', ...QUIET],
    /names no folder/,
  ],
  ['a probe of nobody', ['http://127.0.0.1:2/mcp', '--probe-dir', 'x', ...QUIET], /--probe-dir TARGET=DIR/],
] as const)
  test(`${what} is one sentence and exit code 2`, async () => {
    await inFolder(async (folder) => {
      const { code, stderr } = await cli(['load', 'http://127.0.0.1:1/mcp', ...args], folder);
      assert.match(stderr, says);
      assert.doesNotMatch(stderr, /\n\s+at /);
      assert.equal(code, 2);
    });
  });

test('SIGTERM: its metrics were there, nothing stays open, the summary stands on stdout, exit code 0', async () => {
  await withStub({}, async (stub, folder) => {
    const seen: string[] = [];
    const running = start(['load', stub.url, '--rate', '60', '--run', 'r1', ...QUIET], { cwd: folder });
    running.child.stderr?.on('data', (text: string) => seen.push(text));
    await running.saw('/metrics');
    await eventually(() => stub.counts().open > 5 && stub.counts().live > 20, 'sessions are open');
    const url = /serving (\S+)/.exec(seen.join(''))?.[1] ?? '';
    const response = await fetch(url);
    assert.match(await response.text(), /mcp_client_sessions_opened_total\{[^}]*run="r1"[^}]*\} [1-9]/);
    running.child.kill('SIGTERM');
    const { code, stdout } = await running.finished;
    assert.equal(code, 0);
    assert.match(stdout, /target .* opened .* p99 ms/);
    assert.equal(stub.counts().live, 0);
  });
});

test('a load that was not what was asked for is exit code 3, with the mend', async () => {
  await withStub({ delayMs: 500 }, async (stub, folder) => {
    const args = ['load', stub.url, '--sessions', '40', '--rate', '40', '--max-in-flight', '2'];
    const { code, stderr } = await cli([...args, '--mix', 'delete=1', ...QUIET], folder);
    assert.equal(code, 3);
    assert.match(stderr, /"code":"late"/);
    assert.match(stderr, /of 40 arrivals were left out.*lower --rate, or raise --max-in-flight/);
  });
});

test('a target that is not there is exit code 3; the others get their load', async () => {
  await withStub({}, async (stub, folder) => {
    const args = [
      'load',
      'http://127.0.0.1:1/mcp',
      stub.url,
      '--sessions',
      '5',
      '--mix',
      'delete=1',
      ...QUIET,
    ];
    const { code, stderr, stdout } = await cli(args, folder);
    assert.equal(code, 3);
    assert.match(stderr, /127\.0\.0\.1:1.*start the server, or check the URL/);
    assert.match(stdout, /\b5 │ +5 │/);
    assert.equal(stub.counts().deleted, 6);
  });
});

test('with a probe directory, a target has the name that the exporter gives it', async () => {
  await withStub({}, async (stub, folder) => {
    for (const name of ['mcp-shop', 'sockets']) mkdirSync(join(folder, name), { mode: 0o700 });
    writeFileSync(
      join(folder, 'mcp-retention.yaml'),
      'version: 1\nexporter:\n  targets:\n    shop: { probeDir: sockets, build: shop 4.2 }\n',
    );
    const args = ['load', stub.url, '--rate', '50', '--mix', 'delete=1', ...QUIET];
    for (const [dir, labels] of [
      ['mcp-shop', `target="mcp-shop",build="mcp-shop"`],
      ['./sockets/', `target="shop",build="shop 4.2"`],
    ] as const) {
      // One is by which it sees that there is a server.
      const wanted = stub.counts().opened + 3;
      const running = start([...args, '--probe-dir', dir], { cwd: folder });
      let seen = '';
      running.child.stderr?.on('data', (text: string) => (seen += text));
      await running.saw('/metrics\n');
      const url = /serving (\S+)/.exec(seen)?.[1] ?? '';
      await eventually(() => stub.counts().opened >= wanted, 'its sessions have arrived');
      const page = await (await fetch(url)).text();
      assert.ok(page.includes(`mcp_client_sessions_opened_total{${labels},`), page);
      running.child.kill('SIGTERM');
      await running.finished;
    }
  });
});

test('a server that refuses DELETE: said before the load and after it, with how many may still be there', async () => {
  await withStub({ declineDelete: 405 }, async (stub, folder) => {
    const args = ['load', stub.url, '--sessions', '10', '--rate', '50', '--mix', 'delete=1,abandon=1'];
    const { code, stderr } = await cli([...args, ...QUIET], folder);
    assert.equal(code, 0);
    assert.match(stderr, /"code":"delete-refused".*refuses DELETE \(HTTP 405\): sessions stay/);
    assert.match(stderr, /: 10 sessions could not be deleted and may still be there\./);
    assert.equal(stub.counts().live, 11);
  });
});

test('where no session was opened nothing was measured: exit code 3 and why, unless none was to be', async () => {
  const full = createServer((request, response) => {
    request.resume();
    response.writeHead(503).end();
  });
  await once(full.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(full.address() as AddressInfo).port}/mcp`;
  await inFolder(async (folder) => {
    const few = ['load', url, '--sessions', '5', '--rate', '50', ...QUIET];
    const nothing = await cli([...few, '--mix', 'delete=1'], folder);
    assert.equal(nothing.code, 3);
    assert.match(nothing.stderr, /: none of 5 arrivals opened a session, so nothing was measured/);
    const refused = await cli([...few, '--mix', 'reject=1'], folder);
    assert.equal(refused.code, 0, refused.stderr);
    const none = await cli(
      ['load', url, '--rate', '0.001', '--duration', '100ms', '--mix', 'delete=1', ...QUIET],
      folder,
    );
    assert.equal(none.code, 3);
    assert.match(none.stderr, /: nothing arrived before the end: give it more time, or raise --rate\./);
  }).finally(() => full.close());
});

test('a server that gives no session ids is said before the load', async () => {
  await withStub({ sessionless: true }, async (stub, folder) => {
    const args = ['load', stub.url, '--sessions', '5', '--rate', '50', '--mix', 'delete=1', ...QUIET];
    const { code, stderr } = await cli(args, folder);
    assert.equal(code, 3, stderr);
    assert.match(stderr, /"code":"no-sessions".*gives no session ids/);
    assert.match(stderr, /none of 5 arrivals opened a session/);
  });
});
