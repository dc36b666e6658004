/** Debian's promtool and prometheus: run once, or as a server of a test's own that ends with it. */
import { execa } from 'execa';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { pathOf } from './programs.ts';

/** For node:test's `skip`: a reason where a program is missing. In CI a missing program fails instead. */
export const prometheusMissing: string | false =
  process.env.CI === undefined && (pathOf('promtool') === null || pathOf('prometheus') === null)
    ? 'prometheus and promtool are not on PATH'
    : false;

/** What promtool says, on both streams, and its exit code. */
export async function promtool(
  args: readonly string[],
  input = '',
): Promise<{ readonly code: number | undefined; readonly output: string }> {
  const { exitCode, all } = await execa('promtool', args, { input, all: true, reject: false });
  return { code: exitCode, output: all };
}

/** `promtool check rules` on a rule file's text. */
export async function checkRules(
  text: string,
  flags: readonly string[] = [],
): Promise<{ readonly code: number | undefined; readonly output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-retention-promtool-'));
  const file = join(folder, 'rules.yml');
  writeFileSync(file, text);
  try {
    return await promtool(['check', 'rules', ...flags, file]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One series of an instant query's answer. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface RunningPrometheus {
  readonly url: string;
  /** GET below /api/v1; the answer's `data`. A failed query is an error with Prometheus' own words. */
  get(path: string, parameters?: Readonly<Record<string, string>>): Promise<unknown>;
  query(expression: string): Promise<readonly Sample[]>;
  stop(): Promise<void>;
}

/** @param config prometheus.yml as an object; files that it names must be given with absolute paths */
export async function startPrometheus(
  config: object,
  args: readonly string[] = [],
): Promise<RunningPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-retention-prometheus-'));
  writeFileSync(join(folder, 'prometheus.yml'), stringify(config));
  const url = `http://127.0.0.1:${String(await freePort())}`;
  const child = execa(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${new URL(url).host}`,
      '--log.level=warn',
      ...args,
    ],
    { reject: false, all: true },
  );
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await child;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await ready(
      url,
      child.then(({ all }) => all),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  const get = async (path: string, parameters: Readonly<Record<string, string>> = {}): Promise<unknown> =>
    answer(await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`));
  return {
    url,
    get,
    query: async (expression) =>
      ((await get('query', { query: expression })) as { result: readonly Sample[] }).result,
    stop,
  };
}

async function answer(response: Response): Promise<unknown> {
  const body = (await response.json()) as { status: string; data?: unknown; error?: string };
  if (body.status !== 'success') throw new Error(body.error ?? `status ${String(response.status)}`);
  return body.data;
}

/** @param last what the process said, once it has ended */
async function ready(url: string, last: Promise<string>): Promise<void> {
  const ended = last.then((output) => {
    throw new Error(`prometheus ended: ${output}`);
  });
  const answers = async (): Promise<void> => {
    for (let attempt = 0; attempt < 300; attempt += 1) {
      const ok = await fetch(`${url}/-/ready`).then((response) => response.ok, () => false); // prettier-ignore
      if (ok) return;
      await sleep(100);
    }
    throw new Error('prometheus did not become ready within 30 s');
  };
  await Promise.race([answers(), ended]);
  ended.catch(() => undefined);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
