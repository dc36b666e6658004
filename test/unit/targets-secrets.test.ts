/** What may be a secret is taken out of whatever is shown or kept, in one place for all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactedCommand } from '../../src/cli/redact.ts';
import { configSchema } from '../../src/config/schema.ts';
import { resolveTarget } from '../../src/targets/resolve.ts';
import { publicUrl, redact, redactArguments } from '../../src/targets/secrets.ts';

test('arguments keep their names and lose their secrets', () => {
  const secret: string[][] = [
    ['--db=postgres://u:S3CRET@h/x'],
    ['Bearer S3CRET'],
    ['--token', 'S3CRET'],
    ['--token', '-S3CRET'],
    ['--api-key=S3CRET more S3CRET'],
    ['API_TOKEN=S3CRET'],
    ['-c', 'exec server --token S3CRET --port 1'],
    ['-c', 'PASSWORD="S3CRET S3CRET" server'],
    ['{"password": "S3CRET S3CRET"}'],
    ['-H', 'X-Anything: S3CRET'],
    ['-HX-Anything: S3CRET'],
    ['--header', 'S3CRET'],
    ['--header=X-Anything: S3CRET S3CRET'],
    ['https://h/mcp?k=S3CRET'],
    ['--url=https://h/mcp?k=S3CRET&l=S3CRET'],
    ['https://u:S3CRET@h/mcp'],
    ['Authorization: Token S3CRET S3CRET'],
  ];
  for (const args of secret) {
    assert.ok(!redactArguments(args).join(' ').includes('S3CRET'), redactArguments(args).join(' '));
    assert.ok(!redactedCommand(['check', ...args]).includes('S3CRET'));
  }
  const harmless = [
    'server.py',
    '--port',
    '{port}',
    '--author',
    'me',
    '--log=debug',
    'http://127.0.0.1:1/mcp',
  ];
  assert.deepEqual(redactArguments(harmless), harmless);
});

test('log lines lose what is assigned to a secret name, and a sentence about tokens stays', () => {
  assert.equal(redact('GET http://h/p?key=S3CRET 200'), 'GET http://h/p?… 200');
  assert.equal(redact("db_password='S3CRET S3CRET' ok"), 'db_password=[secret] ok');
  assert.equal(redact('X-Auth-Token: S3CRET'), 'X-Auth-Token: [secret]');
  assert.equal(redact('API_KEY: S3CRET, ok'), 'API_KEY: [secret], ok');
  assert.equal(redact('GET http://u:p@S3CRET@h/x'), 'GET http://[secret]@h/x');
  assert.equal(publicUrl('ftp://u:p@S3CRET@h/x'), 'ftp://h/x');
  assert.equal(redact('SyntaxError: Unexpected token: }'), 'SyntaxError: Unexpected token: }');
  assert.equal(publicUrl('https://u:p@h/mcp?x=1#y'), 'https://h/mcp');
});

test('a target is named after its URL without what the query may hide', () => {
  const options = { config: configSchema.parse({ version: 1 }), allowHosts: [], headers: {} };
  assert.equal(
    resolveTarget('http://127.0.0.1:1/mcp?api_key=S3CRET', options).name,
    'http://127.0.0.1:1/mcp',
  );
  assert.throws(
    () => resolveTarget('http://[bad?api_key=S3CRET', options),
    (error) => error instanceof Error && !error.message.includes('S3CRET'),
  );
});
