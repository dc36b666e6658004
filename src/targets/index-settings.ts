/**
 * The user's own package index: what is set up for pip is handed on to uv, where uv has nothing of its own.
 */
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { execa } from 'execa';

const UV_INDEX_VARIABLES = [
  'UV_DEFAULT_INDEX',
  'UV_INDEX',
  'UV_INDEX_URL',
  'UV_EXTRA_INDEX_URL',
  'UV_NO_INDEX',
  'UV_CONFIG_FILE',
];
const CONFIG_TIMEOUT_MS = 15_000;

/** pip's name of a setting → the variable that tells uv the same. */
const TRANSLATION: Readonly<Record<string, string>> = {
  'index-url': 'UV_DEFAULT_INDEX',
  'extra-index-url': 'UV_INDEX',
  'trusted-host': 'UV_INSECURE_HOST',
  cert: 'SSL_CERT_FILE',
  proxy: 'ALL_PROXY',
};

/**
 * Environment variables to add for uv. Values may hold passwords: never log them.
 * @param python whose pip is asked for its configuration.
 */
export async function indexSettingsForUv(python: string, env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const pip = await pipSettings(python, env);
  const ownIndex = UV_INDEX_VARIABLES.some((name) => env[name]) || (await uvConfigHasIndex(env));
  const added: NodeJS.ProcessEnv = {};
  for (const [setting, variable] of Object.entries(TRANSLATION)) {
    const value = pip.get(setting);
    const isIndex = setting.endsWith('index-url');
    if (value === undefined || env[variable] || (isIndex && ownIndex)) continue;
    added[variable] = value;
  }
  // pip takes the best version of all its indexes, uv of the first that has the package.
  if (added.UV_INDEX !== undefined && !env.UV_INDEX_STRATEGY) added.UV_INDEX_STRATEGY = 'unsafe-best-match';
  return added;
}

/**
 * The other way round: variables to add for pip, where uv was told of indexes by its own. What uv installs from is
 * then what pip asks. Values may hold passwords: never log them.
 */
export function indexSettingsForPip(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const told = (...names: string[]): string =>
    names
      .flatMap((name) => env[name]?.trim().split(/\s+/) ?? [])
      // uv's indexes may have names: `company=https://…`.
      .map((index) => index.replace(/^[\w.-]+=(?=\w+:)/, ''))
      .join(' ');
  const index = told('UV_DEFAULT_INDEX', 'UV_INDEX_URL');
  const more = told('UV_INDEX', 'UV_EXTRA_INDEX_URL');
  const trusted = told('UV_INSECURE_HOST');
  return {
    ...(index !== '' && { PIP_INDEX_URL: index.split(' ')[0] }),
    ...((index !== '' || more !== '') && { PIP_EXTRA_INDEX_URL: more }),
    ...(trusted !== '' && { PIP_TRUSTED_HOST: trusted }),
    ...(env.SSL_CERT_FILE && !env.PIP_CERT && { PIP_CERT: env.SSL_CERT_FILE }),
  };
}

async function pipSettings(python: string, env: NodeJS.ProcessEnv): Promise<Map<string, string>> {
  const result = await execa(python, ['-I', '-m', 'pip', 'config', 'list'], {
    env,
    extendEnv: false,
    reject: false,
    timeout: CONFIG_TIMEOUT_MS,
    stdin: 'ignore',
  });
  const settings = parsePipConfig(result.failed ? '' : result.stdout);
  // A Python without pip still obeys pip's variables here.
  for (const setting of Object.keys(TRANSLATION)) {
    const value = env[`PIP_${setting.toUpperCase().replaceAll('-', '_')}`];
    if (value) settings.set(setting, value.trim().split(/\s+/).join(' '));
  }
  return settings;
}

/**
 * Output of `pip config list`: lines such as `global.index-url='https://…'`. A section for install rules over
 * global, the environment (`:env:`) over both. Several values stand in one, apart by white space.
 */
export function parsePipConfig(text: string): Map<string, string> {
  const RANK: Readonly<Record<string, number>> = { global: 1, install: 2, ':env:': 3 };
  const best = new Map<string, { rank: number; value: string }>();
  for (const line of text.split('\n')) {
    const [, section = '', setting = '', quoted = ''] =
      /^(:env:|\w+)\.([\w-]+)=(.*)$/.exec(line.trim()) ?? [];
    const rank = RANK[section];
    if (rank === undefined || rank < (best.get(setting)?.rank ?? 0)) continue;
    // Python's repr: quotes around, line ends written as \n.
    const value = quoted
      .replace(/^(['"])(.*)\1$/, '$2')
      .replaceAll('\\n', ' ')
      .trim()
      .split(/\s+/)
      .join(' ');
    if (value !== '') best.set(setting, { rank, value });
  }
  return new Map([...best].map(([setting, { value }]) => [setting, value]));
}

async function uvConfigHasIndex(env: NodeJS.ProcessEnv): Promise<boolean> {
  const user = env.XDG_CONFIG_HOME ?? path.join(env.HOME ?? os.homedir(), '.config');
  const files = [path.join(user, 'uv', 'uv.toml'), '/etc/xdg/uv/uv.toml', '/etc/uv/uv.toml'];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return texts.some((text) =>
    /^\s*(\[\[(pip\.)?index\]\]|(pip\.)?(extra-)?(index(-url)?|no-index)\s*=)/m.test(text),
  );
}
