/**
 * Virtual environments: the environment variables that making and using one is safe with, and what is in one.
 */
import { accessSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { TargetError } from './target.ts';
import { run, type RunResult } from './run.ts';

/** What an environment holds; kept in its marker. */
export const environmentFacts = z.object({
  /** Version of mcp. */
  mcp: z.string(),
  /** The runtime as `python`, and every installed package, name → version. */
  packages: z.record(z.string(), z.string()),
  /** Settings that its StreamableHTTPSessionManager accepts. */
  settings: z.array(z.enum(['idleTimeout', 'maxSessions'])),
  /** Dependencies are those of this day; absent where they are locked; null: of the day of installation. */
  asOf: z.string().nullable().optional(),
});
export type EnvironmentFacts = z.infer<typeof environmentFacts>;

// Asked of the environment's own Python, isolated from the user's PYTHONPATH.
const ASK = `
import importlib.metadata, inspect, json, platform, re
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
known = inspect.signature(StreamableHTTPSessionManager.__init__).parameters
name = lambda text: re.sub(r"[-_.]+", "-", text).lower()
packages = {name(d.metadata["Name"]): d.version for d in importlib.metadata.distributions()}
arguments = {"idleTimeout": "session_idle_timeout", "maxSessions": "max_sessions"}
print(json.dumps({
    "mcp": packages["mcp"],
    # Whatever made the environment is no part of the build: uv leaves nothing there, venv leaves pip.
    "packages": {"python": platform.python_version()}
    | {name: version for name, version in sorted(packages.items()) if name not in ("pip", "setuptools")},
    "settings": [setting for setting, argument in arguments.items() if argument in known],
}))
`;

/** @throws TargetError when the environment does not hold an mcp with Streamable HTTP. */
export async function askEnvironment(
  python: string,
  what: string,
  options: { readonly signal: AbortSignal; readonly log: (line: string) => void },
): Promise<EnvironmentFacts> {
  const answer = await run(python, ['-I', '-c', ASK], {
    ...options,
    log: () => undefined,
    env: installerVariables(),
  });
  if (answer.ok) return environmentFacts.parse(JSON.parse(answer.stdout));
  for (const line of answer.output.split('\n')) options.log(line);
  const last = answer.output.trim().split('\n').at(-1) ?? '';
  throw new TargetError(
    `${what} was installed but does not load (“${last}”): name another Python in MCP_RETENTION_PYTHON.`,
  );
}

/**
 * An environment made by Python's own venv and pip, with hashes checked.
 * @param requirements a file outside `directory`.
 */
export async function pipEnvironment(
  python: string,
  directory: string,
  requirements: string,
  options: { readonly signal: AbortSignal; readonly log: (line: string) => void },
): Promise<RunResult> {
  const all = { ...options, env: installerVariables() };
  const made = await run(python, ['-I', '-m', 'venv', directory], all);
  if (!made.ok) return made;
  const pip = [
    '-I',
    '-m',
    'pip',
    '--no-input',
    '--disable-pip-version-check',
    'install',
    '--progress-bar',
    'off',
  ];
  const install = [...pip, '--require-hashes', '--requirement', requirements];
  return run(path.join(directory, 'bin', 'python'), install, all);
}

/** The user's environment variables without what would put other packages or another Python into ours. */
export function installerVariables(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const kept = { ...env };
  for (const name of [
    'PYTHONPATH',
    'PYTHONHOME',
    'VIRTUAL_ENV',
    '__PYVENV_LAUNCHER__',
    'PYTHONDONTWRITEBYTECODE',
  ]) {
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a copy, and undefined is not absent
    delete kept[name];
  }
  return kept;
}

export function fileExists(file: string): boolean {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
}
