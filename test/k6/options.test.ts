import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { readPage } from '../../loadtests/lib/metrics-page.ts';
import { readOptions } from '../../loadtests/lib/options.ts';

const TARGET = 'http://127.0.0.1:8000/mcp';

test('what is not this machine is refused unless it is named', () => {
  for (const own of [TARGET, 'http://localhost/mcp', 'https://[::1]:9/mcp', 'http://127.3.2.1/'])
    assert.equal(readOptions({ TARGET: own }).target, own);
  const others = [
    'http://example.com/mcp',
    'http://127.0.0.1.example.com/',
    'http://[::2]/',
    'http://0.0.0.0/',
    // No addresses, so they would be looked up as names.
    'http://127.0.0.999/',
    'http://127.0.0.256/',
    'http://127.0.0.01/',
  ];
  for (const other of others)
    assert.throws(() => readOptions({ TARGET: other }), /is not this machine.*ALLOW_HOST=/);
  const named = { TARGET: 'http://Staging.example.com:81/mcp' };
  for (const allowed of ['staging.example.com', 'other staging.example.com:81', 'a,STAGING.example.com'])
    assert.equal(readOptions({ ...named, ALLOW_HOST: allowed }).target, named.TARGET);
  assert.throws(() => readOptions({ ...named, ALLOW_HOST: 'example.com' }), /is not this machine/);
});

test('what reads differently to others is no URL', () => {
  const tricks = [
    'http://127.0.0.1\\@example.com/',
    'http://127.0.0.1:80:90/mcp',
    'http:/127.0.0.1/mcp',
    'ftp://127.0.0.1/mcp',
    'http://127.0.0.1/a b',
    '127.0.0.1:8000',
  ];
  for (const trick of tricks)
    assert.throws(
      () => readOptions({ TARGET: trick }),
      (error: Error) => {
        assert.match(error.message, /^TARGET is not the URL of an endpoint/);
        assert.ok(!error.message.includes('secret'));
        return true;
      },
    );
});

test('a password in an address is refused by name, and not shown', () => {
  for (const name of ['TARGET', 'METRICS'])
    for (const tried of ['http://127.0.0.1@example.com/mcp', 'http://user:secret@127.0.0.1/mcp'])
      assert.throws(
        () => readOptions({ TARGET, [name]: tried }),
        (error: Error) => {
          assert.match(error.message, new RegExp(`^${name} has a password in it`));
          assert.ok(!error.message.includes('secret'));
          return true;
        },
      );
});

test('what HTTP cannot send is no header', () => {
  for (const bad of [{ 'a b': 'c' }, { '': 'x' }, { a: 'b\r\nc: secret' }, { a: '\u0100' }, { 'a:': 'b' }])
    assert.throws(
      () => readOptions({ TARGET, HEADERS: JSON.stringify(bad) }),
      (error: Error) => {
        assert.match(error.message, /^HEADERS has ".*", whose name or value cannot be sent as a header/);
        assert.ok(!error.message.includes('secret'));
        return true;
      },
    );
  for (const name of ['HEADERS', 'REQUEST_HEADERS'])
    assert.deepEqual(readOptions({ TARGET, [name]: '{"A":"b"}' }).headers, { a: 'b' });
  assert.throws(
    () => readOptions({ TARGET, HEADERS: '{}', REQUEST_HEADERS: '{}' }),
    /both set: keep REQUEST_HEADERS/,
  );
  const allowed = { 'x-name': 'caf\u00e9 \t!' };
  assert.deepEqual(readOptions({ TARGET, HEADERS: JSON.stringify(allowed) }).headers, allowed);
});

test('each bad value is one sentence that names the variable', () => {
  const bad: Record<string, string[]> = {
    SESSIONS: ['0', '-1', '1.5', 'many'],
    VUS: ['0', 'x'],
    CAP: ['none'],
    SEED: ['-1'],
    RATE: ['0', '1e3', 'fast', '0.004', '0.00', '12.345'],
    IDLE_TIMEOUT: ['0', '1s'],
    DURATION: ['10', 'an hour', '0s', '999ms', '0h0.5s'],
    HEADERS: ['Authorization: x', '[]', '{"a":1}'],
    REQUEST_HEADERS: ['{'],
    MIX: ['delete', 'delete=0', 'delete=1,delete=2', 'other=1', 'abandon=-1', 'a=1=2'],
    METRICS: ['exporter:19640'],
  };
  for (const [name, values] of Object.entries(bad))
    for (const value of values)
      assert.throws(
        () => readOptions({ TARGET, [name]: value }),
        new RegExp(`^Error: ${name} is no .*\\.$`, 's'),
      );
});

test('what is given arrives, and secrets stay out of the name', () => {
  const read = readOptions({
    TARGET: `${TARGET}?token=secret`,
    HEADERS: '{"Authorization":"Bearer x","MCP-Session-Id":"y"}',
    RATE: '2.5',
    MIX: 'abandon=1, delete=0.5',
    DURATION: '1h30m',
    RUN: 'r',
    BUILD: 'b',
  });
  assert.deepEqual(read.headers, { authorization: 'Bearer x' });
  assert.deepEqual([read.targetName, read.rate, read.run, read.build, read.seed], [TARGET, 2.5, 'r', 'b', 1]);
  assert.deepEqual(read.mix, { abandon: 1, delete: 0.5 });
  const named = readOptions({ TARGET, TARGET_NAME: 'mine' });
  assert.deepEqual([named.targetName, named.isNamed], ['mine', true]);
});

test('the exporter’s page gives the registry of the target that is meant', () => {
  const page = readFileSync(new URL('../golden/metrics.txt', import.meta.url), 'utf8');
  const targets = [
    ...new Set([...page.matchAll(/mcp_probe_supported\{.*?target="([^"]+)"/g)].map(([, name]) => name)),
  ];
  assert.ok(targets.length > 0);
  for (const target of targets) assert.ok(Number.isInteger(readPage(page, target ?? '').registered));
  assert.throws(() => readPage(page, 'somebody else'), /METRICS shows no session counts/);
  const two = 'mcp_probe_supported{target="a"} 1\nmcp_probe_supported{target="b"} 1\n';
  assert.throws(() => readPage(two, null), /more than one target.*TARGET_NAME/);
  assert.throws(() => readPage('mcp_probe_supported{target="a"} 0\n', null), /does not know this SDK/);
});

test('labels with any text in them are read', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), (name, value) => {
      const text = name.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
      const labels = `target="a",manager="${text}"`;
      const page = `mcp_probe_supported{target="a"} 1\nmcp_sessions_registered{${labels}} ${value}\n`;
      assert.equal(readPage(page, 'a').registered, value);
    }),
  );
});
