/** What the images of deploy/ hold, at hand on this machine: the same programs, from the sources and the cache. */
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { PACKAGE_ROOT } from '../../src/root.ts';
import { installEnvironment } from '../../src/targets/environment.ts';
import { PYTHON_PROBE, PYTHON_SERVER } from '../../src/targets/paths.ts';
import { COMMAND } from './cli.ts';
import { entrypointOf, environmentOf, projectFile, type Service } from './compose.ts';
import { programMounts, type Mount } from './confined.ts';

export interface Image {
  readonly entrypoint: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
}

/** The image of a service that is built here: a server's by its own entry point, the tool's from its sources. */
export async function imageOf({ build }: Service): Promise<Image> {
  if (build === undefined) throw new Error('the service has no image of ours');
  const env = environmentOf(build.dockerfile);
  const version = build.args?.MCP_VERSION;
  if (version === undefined) return { entrypoint: COMMAND, env, mounts: toolMounts() };
  const { python, directory } = await installEnvironment(version, {
    what: `python:mcp@${version}`,
    signal: new AbortController().signal,
    log: () => undefined,
  });
  const mounts = [
    shown(directory, '/opt/venv'),
    shown(dirname(PYTHON_SERVER), '/opt/mcp-retention/server'),
    shown(PYTHON_PROBE, '/opt/mcp-retention/probe'),
    ...programMounts(python),
  ];
  return { entrypoint: entrypointOf(build.dockerfile), env, mounts };
}

/** For programs that run from this project's sources. */
export function toolMounts(): Mount[] {
  // Where node_modules is a link, what it leads to.
  const modules = dirname(dirname(realpathSync(projectFile('node_modules/tsx/package.json'))));
  return [...programMounts(process.execPath), shown(PACKAGE_ROOT, PACKAGE_ROOT), shown(modules, modules)];
}

const shown = (source: string, target: string): Mount => ({ kind: 'ro', source, target });
