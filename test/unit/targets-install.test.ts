import assert from 'node:assert/strict';
import test from 'node:test';
import { parsePipConfig } from '../../src/targets/index-settings.ts';
import { installError } from '../../src/targets/install-errors.ts';
import { findPython } from '../../src/targets/interpreter.ts';
import { cacheDir } from '../../src/targets/paths.ts';
import { TargetError } from '../../src/targets/target.ts';
import { dayAfterUpload } from '../../src/targets/uv.ts';

const WHAT = 'python:mcp@1.2.3';

test('each way of failing is one sentence with a mend', () => {
  const outputs: [string, RegExp][] = [
    ['error: Request failed after 3 retries\n  cause: dns error', /does not answer/],
    [
      'WARNING: Retrying … NewConnectionError\nERROR: No matching distribution found for mcp==1.2.3',
      /not answer/,
    ],
    ['  cause: Because there is no version of mcp==1.2.3 and you require', /does not exist/],
    ['ERROR: No matching distribution found for mcp==1.2.3', /does not exist/],
    ['ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM', /other files/],
    ['error: No space left on device (os error 28)', /disk is full/],
    [
      'The virtual environment was not created successfully because ensurepip is not available',
      /python3-venv/,
    ],
    [
      'error: No solution\n  cause: Because old-core has no wheels with a matching tag',
      /MCP_RETENTION_PYTHON/,
    ],
    ['something\nunheard of', /“unheard of”/],
    ['', /“no output”/],
  ];
  for (const [output, expected] of outputs) {
    const { message } = installError(WHAT, output);
    assert.match(message, expected);
    assert.ok(message.startsWith(WHAT) && message.endsWith('.') && !message.includes('\n'), message);
  }
  assert.ok(installError(WHAT, 'x'.repeat(10_000)).message.length < 500);
});

test('the environment rules over install, and install over global, in pip', () => {
  const settings = parsePipConfig(
    [
      ":env:.index-url='https://env.example/simple'",
      "global.cert='/etc/ssl/ca.pem'",
      "global.index-url='https://global.example/simple'",
      "install.index-url='https://install.example/simple'",
      "global.extra-index-url='\\nhttps://a.example/simple\\nhttps://b.example/simple'",
      "download.index-url='https://other.example/simple'",
    ].join('\n'),
  );
  assert.deepEqual(Object.fromEntries(settings), {
    'index-url': 'https://env.example/simple',
    cert: '/etc/ssl/ca.pem',
    'extra-index-url': 'https://a.example/simple https://b.example/simple',
  });
});

test('the release day comes from upload times, and is null without them', () => {
  const lock = 'wheels = [{ url = "u", upload-time = 2025-07-17T19:46:34Z, size = 1 }]\n';
  assert.equal(dayAfterUpload(lock), '2025-07-18');
  assert.equal(dayAfterUpload(`sdist = { upload-time = 2025-12-31T23:59:59.5Z }\n`), '2026-01-01');
  assert.equal(dayAfterUpload('name = "mcp"\n'), null);
});

test('a Python that does not run is told with its variable', async () => {
  await assert.rejects(
    findPython({ ...process.env, MCP_RETENTION_PYTHON: 'no-such-python' }),
    (error) =>
      error instanceof TargetError && /MCP_RETENTION_PYTHON names no-such-python/.test(error.message),
  );
  await assert.rejects(findPython({ PATH: '' }), /No Python 3\.10 or newer is on PATH/);
});

test('a relative cache directory is ignored, as XDG asks', () => {
  assert.equal(cacheDir({ XDG_CACHE_HOME: '/var/caches' }), '/var/caches/mcp-retention');
  assert.match(cacheDir({ XDG_CACHE_HOME: 'caches' }), /\.cache\/mcp-retention$/);
});
