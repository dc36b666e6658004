/** What versions there are, from an index on loopback that speaks as package indexes do. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { execa } from 'execa';
import { findPython } from '../../src/targets/interpreter.ts';
import { TargetError } from '../../src/targets/target.ts';
import { publishedVersions, type Published } from '../../src/targets/versions.ts';

interface File {
  readonly version: string;
  readonly yanked?: string;
  readonly python?: string;
}

const FILES: readonly File[] = [
  { version: '1.8.0' },
  { version: '1.10.0' },
  { version: '1.9.0', yanked: 'broken' },
  { version: '2.0.0rc1' },
  { version: '2.0.0', python: '>=3.99' },
];

/** The simple API as HTML (PEP 503) or as JSON (PEP 691). */
function page(json: boolean): RequestListener {
  return ({ url = '' }, response) => {
    if (url !== '/simple/mcp/') {
      response.writeHead(404).end();
      return;
    }
    const files = FILES.map(({ version, yanked, python }) => ({
      filename: `mcp-${version}-py3-none-any.whl`,
      url: `/files/mcp-${version}-py3-none-any.whl`,
      hashes: {},
      yanked: yanked ?? false,
      ...(python !== undefined && { 'requires-python': python }),
    }));
    if (json) {
      response
        .setHeader('content-type', 'application/vnd.pypi.simple.v1+json')
        .end(JSON.stringify({ meta: { 'api-version': '1.0' }, name: 'mcp', files }));
      return;
    }
    const links = files.map(
      (file) =>
        `<a href="${file.url}"${file.yanked === false ? '' : ` data-yanked="${file.yanked}"`}>${file.filename}</a><br>`,
    );
    response
      .setHeader('content-type', 'text/html')
      .end(`<!DOCTYPE html><html><body>${links.join('\n')}</body></html>`);
  };
}

/** This process's variables without what it was told of indexes itself. */
function variables(more: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(PIP|UV)_|_PROXY$/i.test(name));
  return { ...Object.fromEntries(own), PIP_CONFIG_FILE: os.devNull, ...more };
}

const listed = (more: Record<string, string>, name = 'mcp'): Promise<Published> =>
  publishedVersions(name, {
    signal: new AbortController().signal,
    log: () => undefined,
    env: variables(more),
  });

async function withIndex(listener: RequestListener, body: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const ALL = ['1.10.0', '1.8.0', '1.9.0', '2.0.0', '2.0.0rc1'];

for (const json of [false, true])
  test(`an index that answers ${json ? 'JSON' : 'HTML'}, named to pip`, () =>
    withIndex(page(json), async (url) => {
      const { versions, yanked } = await listed({ PIP_INDEX_URL: url });
      assert.deepEqual([...versions].sort(), ALL);
      // Older pips do not tell which were taken back, and name them among the others.
      for (const version of yanked) assert.equal(version, '1.9.0');
    }));

test('an index that was named to uv alone, and settings that would have pip refuse the question', () =>
  withIndex(page(true), async (url) => {
    const { versions } = await listed({
      PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
      UV_DEFAULT_INDEX: `company=${url}`,
      PIP_REQUIRE_VIRTUALENV: '1',
      PIP_REQUIRE_HASHES: '1',
      PIP_CONSTRAINT: '/no/such/file',
    });
    assert.deepEqual([...versions].sort(), ALL);
  }));

const oneSentence =
  (expected: RegExp) =>
  (error: unknown): boolean =>
    error instanceof TargetError && expected.test(error.message) && !error.message.includes('\n');

test('an index without the package, and one that does not answer', async () => {
  await withIndex(page(false), async (url) => {
    await assert.rejects(listed({ PIP_INDEX_URL: url }, 'other'), oneSentence(/does not have other/));
  });
  const nobody = { PIP_INDEX_URL: 'http://127.0.0.1:9/simple' };
  await assert.rejects(listed(nobody), oneSentence(/does not answer/));
});

test('a password in the index’s address is not repeated', () =>
  withIndex(
    (_, response) => response.writeHead(503).end(),
    async (url) => {
      const secret = url.replace('//', '//me:hunter2@');
      await assert.rejects(
        listed({ PIP_INDEX_URL: secret }),
        (error) => oneSentence(/./)(error) && !(error as Error).message.includes('hunter2'),
      );
    },
  ));

test('a Python without pip is given one', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'mcpr-nopip-'));
  try {
    const { path: python } = await findPython();
    const bare = path.join(folder, 'bare');
    await execa(python, ['-I', '-m', 'venv', '--without-pip', bare]);
    await withIndex(page(true), async (url) => {
      const { versions } = await listed({
        PIP_INDEX_URL: url,
        MCP_RETENTION_PYTHON: path.join(bare, 'bin', 'python'),
        XDG_CACHE_HOME: path.join(folder, 'cache'),
      });
      assert.deepEqual([...versions].sort(), ALL);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
