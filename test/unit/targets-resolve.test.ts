import assert from 'node:assert/strict';
import test from 'node:test';
import { commandTarget, configSchema } from '../../src/config/schema.ts';
import { commandBuild, routeSettings } from '../../src/targets/command.ts';
import { expandHeaders } from '../../src/targets/declared.ts';
import { resolveTarget, type ResolveOptions } from '../../src/targets/resolve.ts';
import { UsageError } from '../../src/targets/target.ts';

const config = configSchema.parse({
  version: 1,
  targets: {
    mine: { command: 'my-server', args: ['--port', '{port}'], url: 'http://127.0.0.1:{port}/mcp' },
    theirs: { url: 'http://127.0.0.1:9/mcp' },
    old: { package: 'python:mcp@1.29.1', idleTimeout: 'none' },
  },
});
const options: ResolveOptions = { config, allowHosts: [], headers: {} };
const signal = new AbortController().signal;

const refused = (text: string, pattern: RegExp, more: Partial<ResolveOptions> = {}): void => {
  assert.throws(
    () => resolveTarget(text, { ...options, ...more }),
    (error) => error instanceof UsageError && pattern.test(error.message) && !error.message.includes('\n'),
    text,
  );
};

test('every kind of target is found by what was written', () => {
  for (const text of [
    'python:mcp@1.30.0',
    'python:mcp@latest',
    'http://127.0.0.1:1/mcp',
    'mine',
    'theirs',
    'old',
  ]) {
    assert.equal(resolveTarget(text, options).name, text);
  }
});

test('what is not a target is refused with the mend', () => {
  refused('npm:server@1.0.0', /npm: targets are not supported yet/);
  refused('nobody', /names mine, theirs, old/);
  refused('constructor', /no target constructor/);
  refused('python:fastmcp@4.1', /python:mcp@VERSION/);
  refused('python:mcp@one;two', /one;two in python:mcp@one;two is not a version/);
  refused('python:mcp@1.7.0', /1\.8\.0 or newer/);
  refused('http://', /not a URL/);
  refused('http://me:pass@127.0.0.1/mcp', /holds a password/);
  refused('mine', /--pid goes with a URL/, { pid: 1 });
});

test('a password in a URL is not repeated in the message', () => {
  assert.throws(
    () => resolveTarget('http://me:hunter2@127.0.0.1/mcp', options),
    (error) => error instanceof UsageError && !error.message.includes('hunter2'),
  );
});

test('headers take secrets from the environment, and a missing one is named', () => {
  const env = (name: string): string | undefined => (name === 'TOKEN' ? 'abc' : undefined);
  assert.deepEqual(expandHeaders({ Authorization: 'Bearer ${TOKEN}' }, 'mine', env), {
    Authorization: 'Bearer abc',
  });
  assert.throws(() => expandHeaders({ A: '${MISSING}' }, 'mine', env), /environment variable MISSING/);
  assert.throws(
    () => expandHeaders({ A: '${TOKEN}\nX' }, 'mine', env),
    (error) => error instanceof UsageError && !error.message.includes('abc'),
  );
});

test('settings reach a command by environment or arguments, and only those that have a route', () => {
  const routes = { idleTimeout: { env: 'IDLE' }, maxSessions: { args: ['--cap', '{value}'] } };
  assert.deepEqual(routeSettings(routes, { idleTimeoutSeconds: 2, maxSessions: 5 }), {
    env: { IDLE: '2' },
    args: ['--cap', '5'],
    known: { idleTimeoutSeconds: 2, maxSessions: 5 },
  });
  assert.deepEqual(routeSettings({}, { maxSessions: 5 }), { env: {}, args: [], known: {} });
});

test('the record of a command holds no secret', async () => {
  const spec = commandTarget.parse({
    command: 'srv',
    args: ['--api-key=s3cret1', '--token', 's3cret2', '--port', '{port}'],
    env: { KEY: 's3cret3' },
    headers: { Authorization: 's3cret4' },
    url: 'http://127.0.0.1:{port}/mcp',
    declared: { idleTimeout: '30m', maxSessions: 'none' },
  });
  const { record } = await commandBuild('srv', spec, { allowHosts: [] }).prepare(signal, () => undefined);
  assert.ok(!JSON.stringify(record).includes('s3cret'));
  assert.deepEqual(record.config, {
    command: 'srv --api-key=[secret] --token [secret] --port {port}',
    probe: 'none',
    declaredIdleTimeout: 1800,
    declaredMaxSessions: null,
    headers: 'Authorization',
  });
});
