/**
 * Every published version of a package in a range, as the user's own package index lists them.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { compare, explain, gt, gte, lte, valid } from '@renovatebot/pep440';
import { execa } from 'execa';
import { indexSettingsForPip } from './index-settings.ts';
import { quote, saysUnreachable } from './install-errors.ts';
import { findPython, type Interpreter } from './interpreter.ts';
import { builtOnce } from './once.ts';
import { cacheDir } from './paths.ts';
import { run } from './run.ts';
import { TargetError, UsageError } from './target.ts';
import { fileExists, installerVariables } from './venv.ts';

/** Both ends belong to it. */
export interface VersionRange {
  readonly from: string;
  readonly to: string;
}

export interface Published {
  /** In any order. */
  readonly versions: readonly string[];
  /**
   * Those of them that were taken back, as far as pip tells them apart (23.3 and newer do); they can still be
   * installed by their exact version.
   */
  readonly yanked: ReadonlySet<string>;
}

export interface ListOptions {
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  /** Default: this process's own. */
  readonly env?: NodeJS.ProcessEnv;
}

/** `1.8.0..2.2.0`. @throws UsageError */
export function parseRange(text: string): VersionRange {
  const [, from = '', to = ''] = /^\s*(\S+?)\s*\.\.\s*(\S+)\s*$/.exec(text) ?? [];
  if (from === '' || to === '')
    throw new UsageError(`--versions ${text}: write the oldest and the newest version, as in 1.8.0..2.2.0.`);
  for (const end of [from, to])
    if (valid(end) === null)
      throw new UsageError(`--versions ${text}: ${end} is not a version: write one such as 1.30.0.`);
  if (gt(from, to))
    throw new UsageError(`--versions ${text}: ${from} is newer than ${to}: write the older version first.`);
  return { from, to };
}

const isPrerelease = (version: string): boolean => explain(version)?.is_prerelease === true;

/**
 * The versions in the range, oldest first; pre-releases only where an end of the range is one.
 * @throws UsageError where there are none
 */
export function versionsIn({ from, to }: VersionRange, { versions }: Published): string[] {
  const early = isPrerelease(from) || isPrerelease(to);
  const found = versions.filter(
    (version) =>
      valid(version) !== null && gte(version, from) && lte(version, to) && (early || !isPrerelease(version)),
  );
  if (found.length > 0) return found.sort(compare);
  const finals = versions
    .filter((version) => valid(version) !== null && !isPrerelease(version))
    .sort(compare);
  const published =
    finals.length === 0
      ? 'the index has no final version'
      : `the index has versions from ${finals[0] ?? ''} to ${finals.at(-1) ?? ''}`;
  throw new UsageError(`--versions ${from}..${to}: no published version lies in it (${published}).`);
}

/**
 * Asks pip, which knows the user's index, proxy, certificates and passwords. What uv alone was told by environment
 * variables is handed on to it.
 * @param name of the package, such as `mcp`
 * @throws TargetError when the index does not answer or does not have the package
 */
export async function publishedVersions(name: string, options: ListOptions): Promise<Published> {
  const env = options.env ?? process.env;
  const python = await pythonWithPip(await findPython(env), options);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'mcpr-versions-'));
  try {
    // Nothing is older than 0: pip says what it would have had, those that were taken back apart, and loads nothing.
    const pip = [
      '-I',
      '-m',
      'pip',
      '--no-input',
      '--disable-pip-version-check',
      '--retries',
      '2',
      'download',
    ];
    const asked = ['--no-deps', '--ignore-requires-python', '--dest', folder, `${name}<0`];
    const { output } = await run(python, [...pip, ...asked], {
      env: pipVariables(env),
      cwd: folder,
      signal: options.signal,
      log: () => undefined,
    });
    return parsePublished(name, output);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The user's environment variables for pip, without what would have it refuse the question itself. */
function pipVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const variables: NodeJS.ProcessEnv = {
    ...installerVariables(env),
    ...indexSettingsForPip(env),
    PIP_REQUIRE_VIRTUALENV: '0',
  };
  delete variables.PIP_CONSTRAINT;
  delete variables.PIP_REQUIRE_HASHES;
  return variables;
}

/** What pip says when it finds no version that fits. @throws TargetError */
export function parsePublished(name: string, output: string): Published {
  const listed = /\(from versions: ([^)]*)\)/.exec(output)?.[1];
  const yanked = list(/^.*Ignored the following yanked versions: (.+)$/m.exec(output)?.[1]);
  const versions = [...new Set([...list(listed), ...yanked])];
  if (versions.length > 0) return { versions, yanked: new Set(yanked) };
  if (saysUnreachable(output))
    throw new TargetError(
      `The versions of ${name} cannot be listed because the package index does not answer: check the network, or the index that pip or uv is configured to use.`,
    );
  if (listed !== undefined)
    throw new TargetError(
      `The package index does not have ${name}: check the index that pip or uv is configured to use.`,
    );
  throw new TargetError(`The versions of ${name} cannot be listed (“${quote(output)}”): mend what pip says.`);
}

const list = (text: string | undefined): string[] =>
  (text ?? '').split(/[\s,]+/).filter((version) => valid(version) !== null);

/** The interpreter, or where it has no pip, an environment in the cache that has the one that Python comes with. */
async function pythonWithPip({ path: python, version }: Interpreter, options: ListOptions): Promise<string> {
  const asked = await execa(python, ['-I', '-m', 'pip', '--version'], {
    env: installerVariables(options.env),
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  });
  if (!asked.failed) return python;
  const directory = path.join(cacheDir(options.env), 'tools', `pip-py${version}`);
  const own = path.join(directory, 'bin', 'python');
  return builtOnce({
    directory,
    build: async () => {
      const all = { ...options, env: installerVariables(options.env) };
      const made = await run(python, ['-I', '-m', 'venv', directory], all);
      if (made.ok) return own;
      throw new TargetError(
        `${python} lacks pip and venv, one of which is needed to list versions: install one (Debian: python3-venv).`,
      );
    },
    accept: () => (fileExists(own) ? own : null),
    signal: options.signal,
    log: options.log,
  });
}
