import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { checkAllowances } from '../../src/cli/allow.ts';
import { SAMPLE_CONFIG } from '../../src/cli/config.ts';
import { ConfigError, parseConfig } from '../../src/config/load.ts';

const parse = (text: string) => parseConfig(text, 'c.yaml');
const refused = (text: string, message: RegExp): void =>
  assert.throws(
    () => parse(text),
    (error) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.match(error.message, message);
      assert.ok(!error.message.includes('\n'), 'one sentence, one line');
      return true;
    },
  );

test('the sample that config init writes is valid, with its comments taken away too', () => {
  assert.deepEqual(Object.keys(parse(SAMPLE_CONFIG).targets), ['unbounded']);
  const whole = parse(
    SAMPLE_CONFIG.replace(
      /^(\s*)# (\s*(?:mine|staging|command|args|env|url|readiness|probe|settings|idleTimeout|maxSessions|tools|call|pid|headers|declared|idleMax|exporter|listen|targets|shop|single|probeDir|build|labels|allow|abandon\.bounded):?)/gm,
      '$1$2',
    ),
  );
  assert.deepEqual(Object.keys(whole.targets), ['unbounded', 'mine', 'staging']);
  assert.equal(whole.policy.idleMax, 1800);
  assert.deepEqual(Object.keys(whole.allow), ['abandon.bounded']);
  checkAllowances(whole);
  assert.deepEqual(Object.keys(whole.exporter.targets), ['shop', 'single']);
});

test('the sample names the JSON Schema that the package brings', () => {
  const [, path = ''] =
    /^# yaml-language-server: \$schema=node_modules\/mcp-retention\/(\S+)\n/.exec(SAMPLE_CONFIG) ?? [];
  assert.ok(existsSync(new URL(`../../${path}`, import.meta.url)), path);
});

test('lengths of time are seconds, none is null', () => {
  const { policy, targets } = parse(
    'version: 1\npolicy: { idleMax: 1.5m, maxSessions: 3 }\ntargets: { a: { package: "python:mcp@1.30.0", idleTimeout: none, maxSessions: 7 } }',
  );
  assert.deepEqual(policy, { idleMax: 90, maxSessions: 3 });
  assert.ok(targets.a && 'package' in targets.a);
  assert.equal(targets.a.idleTimeout, null);
});

test('a mistake is one sentence with the line, the field and the mend', () => {
  refused(
    'version: 1\ntargets:\n  a:\n    url: http://127.0.0.1/mcp\n    pidd: 3\n',
    /^c\.yaml:\d+: targets\.a: unknown key pidd: remove it/,
  );
  refused('version: 1\npolicy:\n  idleMax: soon\n', /^c\.yaml:3: policy\.idleMax: .*such as 90s, 30m or 2h/);
  refused(
    'version: 1\ntargets:\n  a:\n    package: npm:x@1\n',
    /^c\.yaml:4: targets\.a\.package: only python:mcp@VERSION/,
  );
  refused('version: 1\ntargets:\n  a:\n    command: node\n', /^c\.yaml:\d+: targets\.a\.url: /);
  refused('version: 2\n', /^c\.yaml:1: version: /);
  refused('version: 1\ntargets: [\n', /^c\.yaml:\d+: this is not YAML/);
  refused('', /^c\.yaml:1: the file: /);
  refused('version: 1\ntargets:\n  "a b": { url: http://127.0.0.1/mcp }\n', /^c\.yaml:3: /);
});

test('the section exporter: a mistake is one sentence with the line', () => {
  const target = (text: string) => `version: 1\nexporter:\n  targets:\n    a:\n      ${text}\n`;
  refused(target('probeDirr: x'), /^c\.yaml:\d: exporter\.targets\.a: unknown key probeDirr/);
  refused('version: 1\nexporter:\n  port: 1\n', /^c\.yaml:3: exporter: unknown key port/);
  refused('version: 1\nexporter:\n  listen: 19640\n', /^c\.yaml:3: exporter\.listen: /);
  refused('version: 1\nexporter:\n  listen: ":19640"\n', /^c\.yaml:3: exporter\.listen: write host:port/);
  refused('version: 1\nexporter:\n  listen: a:99999\n', /^c\.yaml:3: exporter\.listen: write host:port/);
  refused(target('build: x'), /^c\.yaml:5: exporter\.targets\.a: name a probeDir or a probe/);
  refused(target('probeDir: x\n      probe: 127.0.0.1:1'), /^c\.yaml:6: .*\.probe: stands beside probeDir/);
  refused(target('probeDir: x\n      pid: 1'), /^c\.yaml:6: .*\.pid: goes with probe alone/);
  refused(target('probe: example.com:1'), /^c\.yaml:5: .*\.probe: a probe listens on loopback alone/);
  const labels = (text: string) => target(`probeDir: x\n      labels:\n        team: a\n        ${text}`);
  refused(labels('worker: b'), /^c\.yaml:8: .*\.labels\.worker: this label is one of the exporter's own/);
  refused(labels('case: b'), /^c\.yaml:8: .*labels\.case: this label is one of the exporter's own/);
  refused(labels('instance: b'), /^c\.yaml:8: .*labels\.instance: this label is Prometheus' own/);
  refused(labels('a-b: c'), /^c\.yaml:8: .*labels\.a-b: a label has letters, digits and _/);
  refused(labels('__a: c'), /^c\.yaml:8: .*labels\.__a: names that begin with __/);
  refused(labels('team: b'), /^c\.yaml:8: team stands here twice: remove one of them/);
  assert.deepEqual(parse(labels('tier: web')).exporter.targets.a?.labels, { team: 'a', tier: 'web' });
});

const target = (fields: string): string => `version: 1\ntargets: { a: { ${fields} } }`;
const COMMAND = 'command: x, url: "http://127.0.0.1:{port}/mcp"';

test('what YAML can do beyond plain data is one sentence', () => {
  refused('version: 1\ntargets: { a: !!js/function "x" }', /^c\.yaml:2: a tag/);
  refused('version: 1\ntargets: { a: *nope }', /nope: correct the alias/);
  const bomb = Array.from({ length: 9 }, (_, i) => `k${i + 1}: &k${i + 1} [${`*k${i},`.repeat(9)}]`);
  refused(`k0: &k0 [1]\n${bomb.join('\n')}`, /aliases .* unfold to far too much/);
  refused('['.repeat(20_000), /nests too deeply/);
  refused('version: 1\n---\nversion: 1', /^c\.yaml:2: a second document begins here/);
  refused(target('url: x, url: y'), /^c\.yaml:2: url stands here twice/);
  refused('version: 1\ntargets: { __proto__: { url: x } }', /^c\.yaml:2: __proto__ cannot be a name/);
});

test('a target is judged by its own kind', () => {
  refused('version: 1\ntargets: { a: 1 }', /targets\.a: write a section with a package, a command or a url/);
  refused('version: 1\ntargets: { a: [x] }', /targets\.a: write a section/);
  refused('version: 1\ntargets: { a: }', /targets\.a: write a section/);
  refused(target('pid: 3'), /targets\.a: name a package, a command or a url/);
  refused(target(`${COMMAND}, probe: ruby`), /targets\.a\.probe: write python or self or none/);
  refused(target(`${COMMAND}, readiness: { tcp: false }`), /targets\.a\.readiness: write \{ url: URL \} or/);
  refused(target(`${COMMAND}, args: [[1]]`), /targets\.a\.args\.0: write text/);
  refused(target(`${COMMAND}, pid: 3`), /targets\.a: unknown key pid/);
});

test('numbers and truth values in arguments and environment stand as they are spelled', () => {
  const { a } = parse(
    target(`${COMMAND}, args: [1.10, true, 0x1F, x], env: { PORT: 8000, ON: yes }`),
  ).targets;
  assert.ok(a && 'command' in a);
  assert.deepEqual(a.args, ['1.10', 'true', '0x1F', 'x']);
  assert.deepEqual(a.env, { PORT: '8000', ON: 'yes' });
});

test('a length of time is more than none and at most a year, however it is written', () => {
  for (const length of [
    '0',
    '0s',
    '0.0h',
    '-1',
    '999999h',
    '1e12',
    '.inf',
    `${'9'.repeat(400)}s`,
    'true',
    '[1]',
  ])
    refused(`version: 1\npolicy: { idleMax: ${length} }`, /^c\.yaml:2: policy\.idleMax: (must be|write)/);
  refused(target('package: "python:mcp@1.30.0", idleTimeout: 0s'), /targets\.a\.idleTimeout: must be more/);
  refused(
    target('url: x, declared: { idleTimeout: 0ms }'),
    /targets\.a\.declared\.idleTimeout: must be more/,
  );
});

test('no sentence has the wording of a library', () => {
  for (const text of [
    '- 1',
    'version: 1\ntargets: [x]',
    'version: 1\npolicy: 3',
    'version: 1\npolicy: { maxSessions: many }',
    target('url: 3'),
    target('url: x, headers: [x]'),
    target('url: x, pid: -1'),
    target('package: "python:mcp@1.30.0", workers: 100'),
  ])
    assert.throws(
      () => parse(text),
      (error) =>
        error instanceof ConfigError && !/expected|received|invalid|too (big|small)/i.test(error.message),
      text,
    );
});
