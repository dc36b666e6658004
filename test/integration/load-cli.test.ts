/** `load` as a user runs it. */
import assert from 'node:assert/strict';
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
  ['another host', ['--allow-host', 'elsewhere', 'http://192.0.2.1/mcp'], /192.0.2.1 is not this machine/],
  ['the same target twice', ['http://127.0.0.1:1/mcp', ...QUIET], /stands twice/],
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
