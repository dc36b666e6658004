/** Who may see the pages, and over what: TLS and users. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { hashSync } from 'bcryptjs';
import { loadWebConfig } from '../../exporters/web-config.ts';
import { ConfigError } from '../../src/config/load.ts';
import { eventually } from '../fixtures/servers/speaker.ts';
import { serving } from '../support/exporter.ts';

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'mcpr-web-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const PASSWORD = 'correct horse: battery';

test('with users, every page asks who it is', async (t) => {
  const file = join(folder(t), 'web.yml');
  writeFileSync(file, `basic_auth_users:\n  prometheus: ${hashSync(PASSWORD, 4).replace('$2b$', '$2y$')}\n`);
  const { url } = await serving(t, { web: await loadWebConfig(file) });
  const status = async (path: string, authorization?: string): Promise<number> => {
    const response = await fetch(
      url + path,
      authorization === undefined ? {} : { headers: { authorization } },
    );
    await response.text();
    return response.status;
  };
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  const right = basic(`prometheus:${PASSWORD}`);
  for (const path of ['metrics', 'healthz', '', 'nothing']) assert.equal(await status(path), 401, path);
  for (let i = 0; i < 3; i++) assert.equal(await status('metrics', right), 200);
  const wrong = [
    basic(`prometheus:${PASSWORD}!`),
    basic(`somebody:${PASSWORD}`),
    basic('prometheus:'),
    basic('prometheus'),
    basic(`prometheus:${'x'.repeat(100)}`),
    'Basic !!!',
    'Bearer token',
    'Basic',
  ];
  for (const authorization of wrong) assert.equal(await status('metrics', authorization), 401, authorization);
  assert.equal(await status('metrics', right), 200);
  assert.match((await fetch(url)).headers.get('www-authenticate') ?? '', /^Basic realm=/);
});

test('a flood of wrong passwords keeps nobody out for long, least of all once it is over', async (t) => {
  const file = join(folder(t), 'web.yml');
  writeFileSync(file, `basic_auth_users:\n  prometheus: ${hashSync(PASSWORD, 10)}\n`);
  const { url } = await serving(t, { web: await loadWebConfig(file) });
  const ask = (password: string, signal?: AbortSignal): Promise<Response> =>
    fetch(url + 'metrics', {
      headers: { authorization: `Basic ${Buffer.from(`prometheus:${password}`).toString('base64')}` },
      ...(signal && { signal }),
    });
  const hangUp = new AbortController();
  const statuses: number[] = [];
  const flood = Array.from({ length: 200 }, async (_, i) => {
    const { status } = await ask(`guess ${i}`, hangUp.signal);
    statuses.push(status);
  });
  const all = Promise.allSettled(flood);
  // More than may wait are turned away at once.
  await eventually('the flood is there', () => statuses.filter((status) => status === 503).length > 100);
  hangUp.abort();
  await all;
  const began = performance.now();
  let answer = await ask(PASSWORD);
  // Connections that are closed are seen to be so a moment later.
  for (let i = 0; i < 50 && answer.status === 503; i++) {
    await delay(100);
    answer = await ask(PASSWORD);
  }
  assert.equal(answer.status, 200);
  const perGuess = await timeOf(() => ask('one more'));
  assert.ok(performance.now() - began < 20 * perGuess + 5_000, 'those that hung up were not looked at');
});

async function timeOf(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

function certificate(dir: string, name: string): Certificate {
  const [cert, key] = [join(dir, `${name}.pem`), join(dir, `${name}.key`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
  ];
  execFileSync('openssl', [...args, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  return { cert, key };
}

/** The status of a GET over TLS, or the error's code. */
function get(url: string, options: RequestOptions): Promise<number | string> {
  return new Promise((resolve) => {
    const request = httpsRequest(new URL('healthz', url), { ...options, agent: false }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    request.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    request.end();
  });
}

const FOR_CLIENTS: readonly [string, { none: boolean; stranger: boolean; known: boolean }][] = [
  ['NoClientCert', { none: true, stranger: true, known: true }],
  ['RequestClientCert', { none: true, stranger: true, known: true }],
  ['RequireAnyClientCert', { none: false, stranger: true, known: true }],
  ['RequireClientCert', { none: false, stranger: true, known: true }],
  ['VerifyClientCertIfGiven', { none: true, stranger: false, known: true }],
  ['RequireAndVerifyClientCert', { none: false, stranger: false, known: true }],
];

test('TLS, and what it asks of clients', async (t) => {
  const dir = folder(t);
  const [server, known, stranger] = ['server', 'known', 'stranger'].map((name) => certificate(dir, name));
  assert.ok(server && known && stranger);
  const ca = readFileSync(server.cert);
  const pair = ({ cert, key }: Certificate) => ({ ca, cert: readFileSync(cert), key: readFileSync(key) });
  for (const [type, admits] of FOR_CLIENTS) {
    const file = join(dir, 'web.yml');
    const authority = type === 'NoClientCert' ? '' : '\n  client_ca_file: known.pem';
    writeFileSync(
      file,
      `tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n  client_auth_type: ${type}${authority}\n`,
    );
    const { url } = await serving(t, { web: await loadWebConfig(file) });
    assert.match(url, /^https:/);
    const admitted: typeof admits = {
      none: (await get(url, { ca })) === 200,
      stranger: (await get(url, pair(stranger))) === 200,
      known: (await get(url, pair(known))) === 200,
    };
    assert.deepEqual(admitted, admits, type);
    assert.notEqual(await get(url, {}), 200, 'who does not know the certificate does not get through');
    await assert.rejects(fetch(url.replace('https:', 'http:')));
  }
});

describe('a bad web configuration is one sentence with the line', () => {
  const refused: [string, RegExp][] = [
    ['tls: {}\n', /web\.yml:1: unknown key tls/],
    ['http_server_config: {}\n', /web\.yml:1: unknown key http_server_config/],
    ['tls_server_config:\n  cert_file: a\n', /web\.yml:\d: tls_server_config\.key_file: /],
    [
      'tls_server_config:\n  cert_file: a\n  key_file: b\n  min_version: TLS13\n',
      /web\.yml:\d: tls_server_config: unknown key min_version/,
    ],
    [
      'tls_server_config:\n  cert_file: a\n  key_file: b\n  client_auth_type: Verify\n',
      /web\.yml:4: tls_server_config\.client_auth_type: /,
    ],
    [
      'tls_server_config:\n  cert_file: a\n  key_file: b\n  client_auth_type: RequireAndVerifyClientCert\n',
      /web\.yml:4: .*name the authority in client_ca_file/,
    ],
    [
      'tls_server_config:\n  cert_file: a\n  key_file: b\n  client_ca_file: c\n',
      /web\.yml:4: .*client_ca_file: without a client_auth_type/,
    ],
    ['tls_server_config:\n  cert_file: a\n  key_file: b\n', /cannot read cert_file .*\/a \(ENOENT\)/],
    [
      'tls_server_config:\n  cert_file: web.yml\n  key_file: web.yml\n',
      /web\.yml: tls_server_config: certificate and key cannot be used/,
    ],
    ['basic_auth_users:\n  a: hunter2\n', /web\.yml:2: basic_auth_users\.a: not a bcrypt hash/],
    ['basic_auth_users:\n  "a:b": x\n', /web\.yml:2: basic_auth_users\.a:b: /],
    ['basic_auth_users:\n  # a: b\n', /web\.yml:1: basic_auth_users: write a section .*, not nothing\.$/],
    ['basic_auth_users: {}\n', /web\.yml:1: basic_auth_users: name a user, or remove it\.$/],
    ['tls_server_config:\n', /web\.yml:1: tls_server_config: write a section .*, not nothing\.$/],
    ['', /web\.yml:1: the file: asks for neither TLS nor users: name .* or leave --web-config out\.$/],
    ['# all of it later\n', /web\.yml:1: the file: asks for neither TLS nor users/],
    ['{}\n', /web\.yml:1: the file: asks for neither TLS nor users/],
    ['basic_auth_users: [\n', /web\.yml:\d: this is not YAML/],
  ];
  for (const [text, sentence] of refused)
    test(JSON.stringify(text), (t) => {
      const file = join(folder(t), 'web.yml');
      writeFileSync(file, text);
      return assert.rejects(loadWebConfig(file), (error: unknown) => {
        assert.ok(error instanceof ConfigError, String(error));
        assert.match(error.message, sentence);
        assert.doesNotMatch(error.message, /hunter2|\n/);
        return true;
      });
    });
});

test('an authority that is no certificate is refused: nobody could connect', async (t) => {
  const dir = folder(t);
  certificate(dir, 'server');
  const file = join(dir, 'web.yml');
  writeFileSync(
    file,
    'tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: server.key\n',
  );
  await assert.rejects(loadWebConfig(file), {
    name: 'ConfigError',
    message: /web\.yml: tls_server_config\.client_ca_file holds no certificate/,
  });
});
