/** config check finds what would only go wrong when the target is measured. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { cli, inFolder, oneSentence } from '../support/cli.ts';

describe('config check tells of every target', { concurrency: 2 }, () => {
  const wrong: [string, string | Buffer, RegExp][] = [
    ['url', 'targets: { a: { url: nonsense } }', /targets\.a: nonsense is not a URL/],
    ['password', 'targets: { a: { url: "http://u:p@127.0.0.1/mcp" } }', /targets\.a: .*holds a password/],
    [
      'header',
      'targets: { a: { url: "http://127.0.0.1/", headers: { A B: c } } }',
      /"A B" of a cannot be sent/,
    ],
    ['package', 'targets: { a: { package: "python:nope@x" } }', /targets\.a: python:nope@x is not a known/],
    [
      'readiness',
      'targets: { a: { command: x, url: "http://127.0.0.1:{port}/", readiness: { url: xx } } }',
      /targets\.a: xx is not a URL/,
    ],
    ['bytes', Buffer.from([0xff, 0xfe, 0x41]), /not UTF-8 text/],
    ['no time', 'policy: { idleMax: 0s }', /policy\.idleMax: must be more than 0/],
  ];
  for (const [name, text, sentence] of wrong)
    test(name, () =>
      inFolder(async (folder) => {
        const file = typeof text === 'string' ? `version: 1\n${text}\n` : text;
        writeFileSync(join(folder, 'mcp-retention.yaml'), file);
        oneSentence(await cli(['config', 'check'], folder), 2, sentence);
      }),
    );
  test('a secret from the environment need not be there', () =>
    inFolder(async (folder) => {
      writeFileSync(
        join(folder, 'mcp-retention.yaml'),
        'version: 1\ntargets: { a: { url: "http://127.0.0.1/", headers: { A: "${NOT_SET_HERE}" } } }\n',
      );
      assert.equal((await cli(['config', 'check'], folder)).code, 0);
    }));
});
