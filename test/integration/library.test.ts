/** The library as people's own tests use it: servers in the same process, and programs that it starts. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import {
  assertReleases,
  check,
  compare,
  RecordingError,
  RetentionError,
  UsageError,
} from '../../src/index.ts';
import type { CheckOptions, Target } from '../../src/index.ts';
import { startTypescriptSdk, type TypescriptSdkServer } from '../fixtures/servers/typescript-sdk.ts';
import { suspectTarget } from '../support/measure.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const FEW = { cases: ['delete'], sessions: 20 };

async function withSdk(
  deletesFromMap: boolean,
  use: (server: TypescriptSdkServer) => Promise<void>,
): Promise<void> {
  const server = await startTypescriptSdk({ deletesFromMap });
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

async function failure(promise: Promise<unknown>): Promise<RetentionError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof RetentionError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'it did not fail' });
}

/** Folders of measurements that are there now. */
const leftovers = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('mcp-retention-'));

const statusOf = async (target: Target, options: CheckOptions, id: string): Promise<string | undefined> => {
  const claims = (await check(target, options)).builds[0]?.cases.flatMap((played) => played.claims);
  return claims?.find((claim) => claim.id === id)?.status;
};

describe('assertReleases on a server in this process', () => {
  test('passes one that lets go, counts its registry, and leaves it as it was', () =>
    withSdk(true, async ({ url, sessions }) => {
      const report = await assertReleases(url, {
        registry: sessions,
        cases: ['delete', 'reject'],
        sessions: 20,
      });
      const claims = report.builds[0]?.cases.flatMap((played) => played.claims) ?? [];
      for (const id of ['delete.deregisters', 'reject.registers-nothing', 'identity.holds'])
        assert.equal(claims.find((claim) => claim.id === id)?.status, 'pass', id);
      assert.equal(sessions.size, 0);
      assert.deepEqual(Object.getOwnPropertyNames(sessions), []);
    }));

  test('fails one that keeps its sessions, and says so readably', () =>
    withSdk(false, async ({ url, sessions }) => {
      const error = await failure(assertReleases(url, { registry: sessions, ...FEW }));
      const { message, report, recording } = error;
      assert.match(message, /^http:.*: 1 of 7 claims failed$/m);
      assert.match(message, /^✗ delete\.deregisters {2}A deleted session leaves the registry\.$/m);
      assert.match(message, /^ {4}expected {2}at most 1 registered$/m);
      assert.match(message, /^ {4}observed {2}121 registered \(120 of 120 deleted sessions kept\)$/m);
      assert.match(message, /^ {4}reason {4}DELETE .* all of them remnants/m);
      assert.equal(report.verdict, 'fail');
      assert.deepEqual([error.name, error.code, Object.keys(error)], ['RetentionError', 'ERR_ASSERTION', []]);
      assert.match(error.stack?.split('\n    at ')[1] ?? '', /library\.test/);
      assert.ok(message.includes(recording) && existsSync(recording), 'the recording is kept and named');
      rmSync(join(recording, '..'), { recursive: true });
    }));

  test('a registry that the server does not use is no evidence', () =>
    withSdk(false, async ({ url }) => {
      const error = await failure(assertReleases(url, { registry: new Map(), ...FEW }));
      assert.match(
        error.message,
        /^\? delete\.deregisters.*\n {4}not measured {2}The probe saw 0 of \d+ sessions/m,
      );
      assert.equal(error.report.verdict, 'inconclusive');
      rmSync(join(error.recording, '..'), { recursive: true });
      await assertReleases(url, { registry: new Map(), ...FEW, allowUndecided: true });
    }));

  test('idle timeout and cap are not known of a registry, unless they are declared', () =>
    withSdk(true, async ({ url, sessions }) => {
      const options = { registry: sessions, cases: ['abandon'], sessions: 20 };
      assert.equal(await statusOf(url, options, 'abandon.bounded'), 'unmeasured');
      const declared = { idleTimeout: 'none', maxSessions: 'none' } as const;
      assert.equal(await statusOf({ url, declared }, options, 'abandon.bounded'), 'fail');
      const bounded = { idleTimeout: '20m' } as const;
      assert.equal(await statusOf({ url, declared: bounded }, options, 'abandon.bounded'), 'pass');
    }));

  test('two measurements of one registry at a time are refused', () =>
    withSdk(true, async ({ url, sessions }) => {
      const first = check(url, { registry: sessions, ...FEW });
      await assert.rejects(check(url, { registry: sessions, ...FEW }), /watched already/);
      assert.equal((await first).verdict, 'pass');
    }));
});

describe('programs that the library starts', () => {
  test('check and allow', async () => {
    const target = suspectTarget('delete-keeps-entry');
    assert.equal((await check(suspectTarget(null), FEW)).verdict, 'pass');
    assert.equal((await check(target, FEW)).verdict, 'fail');
    const allow = { 'delete.deregisters': 'behind a worker that is recycled each hour' };
    assert.equal((await check(target, { ...FEW, allow })).verdict, 'pass');
    const error = await failure(assertReleases(suspectTarget(null), { ...FEW, allow }));
    assert.match(error.message, /! allow\.delete\.deregisters is stale/);
    rmSync(join(error.recording, '..'), { recursive: true });
  });

  test('compare: a build with a recording, and two builds', async () => {
    const out = mkdtempSync(join(tmpdir(), 'mcpr-library-'));
    try {
      await check(suspectTarget(null), { ...FEW, out: join(out, 'main') });
      await assert.rejects(
        compare(join(out, 'main'), join(out, 'main'), { registry: new Map() }),
        /^UsageError: registry is for what is measured, and both sides are recordings/,
      );
      const guilty = suspectTarget('delete-keeps-entry');
      const worse = await compare(join(out, 'main'), guilty, FEW);
      assert.equal(worse.verdict, 'fail');
      const change = worse.comparison?.changes.find(({ claim }) => claim === 'delete.deregisters');
      assert.equal(change?.change, 'regressed');
      assert.equal((await compare(guilty, suspectTarget(null), FEW)).verdict, 'pass');
      await assert.rejects(check(suspectTarget(null), { ...FEW, out: join(out, 'main') }), RecordingError);
    } finally {
      rmSync(out, { recursive: true });
    }
  });

  test('a target that does not start leaves it undecided', async () => {
    const target = { command: process.execPath, args: ['-e', ''], url: 'http://127.0.0.1:{port}/mcp' };
    const error = await failure(assertReleases(target, FEW));
    assert.equal(error.report.verdict, 'inconclusive');
    assert.match(error.message, /^\? delete\.accepted,.*\n {4}not measured /m);
    rmSync(join(error.recording, '..'), { recursive: true });
  });
});

test('what is wrong is refused with a sentence, before anything is measured', async () => {
  const url = 'http://127.0.0.1:9/mcp';
  const wrong: [Target, object, RegExp][] = [
    [url, { cases: ['delet'] }, /^cases\.0: known cases: delete, /],
    [url, { sesions: 3 }, /unknown key sesions/],
    [url, null as unknown as object, /^options: write an object/],
    [url, 'delete' as unknown as object, /^options: write an object/],
    [url, { sessions: 0 }, /^sessions: must be at least 1/],
    [url, { allow: { 'no.claim': 'why' } }, /^allow\.no\.claim: this is no claim/],
    [url, { allow: { 'delete.deregisters': ' ' } }, /say why/],
    [url, { signal: 3 }, /^signal: give an AbortSignal/],
    [url, { registry: {} }, /^registry: only a Map or a Set/],
    [url, { registry: new Map(), probeDir: 'x' }, /both name a probe/],
    ['mine', {}, /^target: write a URL/],
    ['python:fastmcp', {}, /python:mcp@VERSION/],
    [{ url, nonsense: 1 } as Target, {}, /^target: unknown key nonsense|^unknown key nonsense/],
    [{} as Target, {}, /^target: name a url, a command or a package/],
    ['python:mcp@1.30.0', { headers: { a: 'b' } }, /^headers goes with a server that runs already/],
    [suspectTarget(null), { registry: new Map() }, /^registry goes with a server that runs already/],
    ['http://192.0.2.1/mcp', {}, /allowHosts/],
  ];
  const before = leftovers();
  for (const [target, options, sentence] of wrong)
    await assert.rejects(
      check(target, options),
      (error) => error instanceof UsageError && sentence.test(error.message),
      String(sentence),
    );
  await assert.rejects(compare(url, url, { registry: new Map() }), /speaks of one server/);
  assert.deepEqual(leftovers(), before);
});

test('a signal ends it in order', () =>
  withSdk(true, async ({ url, sessions }) => {
    const before = leftovers();
    const interrupt = new AbortController();
    const reason = new Error('enough');
    const set = sessions.set.bind(sessions);
    sessions.set = (id, transport) => {
      interrupt.abort(reason);
      return set(id, transport);
    };
    await assert.rejects(check(url, { registry: sessions, ...FEW, signal: interrupt.signal }), reason);
    await assert.rejects(check(url, { signal: AbortSignal.abort(reason) }), reason);
    assert.equal(sessions.size, 0);
    assert.deepEqual(leftovers(), before);
  }));

test('nothing is printed, no signal is handled, nothing keeps the process alive', async () => {
  const script = `
    const { startTypescriptSdk } = await import('./test/fixtures/servers/typescript-sdk.ts');
    const signals = () => ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name));
    const before = signals();
    const { check } = await import('./src/index.ts');
    const server = await startTypescriptSdk({ deletesFromMap: false });
    const report = await check(server.url, { registry: server.sessions, cases: ['delete'], sessions: 20 });
    await server.close();
    if (report.verdict !== 'fail' || String(signals()) !== String(before)) process.exitCode = 9;`;
  const run = promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', script],
    { cwd: ROOT },
  );
  assert.deepEqual(await run, { stdout: '', stderr: '' });
});
