import assert from 'node:assert/strict';
import { test } from 'node:test';
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
      /^(\s*)# (\s*(?:mine|staging|command|args|env|url|readiness|probe|settings|idleTimeout|maxSessions|tools|call|pid|headers|declared|idleMax):?)/gm,
      '$1$2',
    ),
  );
  assert.deepEqual(Object.keys(whole.targets), ['unbounded', 'mine', 'staging']);
  assert.equal(whole.policy.idleMax, 1800);
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
