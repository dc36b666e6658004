/**
 * The built-in Python builds: our small server on one version of mcp.
 */
import { lt, valid } from '@renovatebot/pep440';
import { z } from 'zod';
import { DEFAULT_TOOLS } from '../client/types.ts';
import type { PackageTarget } from '../config/schema.ts';
import { PROBE_DIR_VARIABLE } from '../observe/snapshot.ts';
import { installEnvironment, repairedEnvironment, type Environment } from './environment.ts';
import { PYTHON_PROBE, PYTHON_SERVER } from './paths.ts';
import { startProgram, whenReady, type Program } from './supervisor.ts';
import {
  TargetError,
  UsageError,
  type Build,
  type PreparedBuild,
  type RunningTarget,
  type StartOptions,
} from './target.ts';
import { installerVariables } from './venv.ts';

/** Streamable HTTP came with this version. */
const OLDEST = '1.8.0';

const readyLine = z.object({
  event: z.literal('ready'),
  url: z.string(),
  pid: z.number().int().positive(),
  idleTimeout: z.number().positive().nullable(),
  maxSessions: z.number().int().positive().nullable(),
});

/**
 * A build from the package index.
 * @param name its name in tables.
 * @throws UsageError when `spec.package` is not `python:mcp@VERSION` with a usable version.
 */
export function pythonBuild(name: string, spec: PackageTarget): Build {
  const version = versionOf(spec.package);
  return {
    name,
    // A package is served on loopback by us.
    admit: () => Promise.resolve(),
    prepare: async (signal, log) => {
      const environment = await installEnvironment(version, { what: spec.package, signal, log });
      return prepared(name, spec, environment, log);
    },
  };
}

/** The version in `python:mcp@VERSION`. */
function versionOf(text: string): string {
  const version = /^python:mcp@(.+)$/.exec(text)?.[1];
  if (version === undefined) {
    throw new UsageError(`${text} is not a known package: write python:mcp@VERSION or python:mcp@latest.`);
  }
  if (version === 'latest') return version;
  if (valid(version) === null) {
    throw new UsageError(`${version} in ${text} is not a version: write one such as 1.30.0, or latest.`);
  }
  if (lt(version, OLDEST)) {
    throw new UsageError(`${version} in ${text} has no Streamable HTTP: write ${OLDEST} or newer.`);
  }
  return version;
}

function prepared(
  name: string,
  spec: PackageTarget,
  environment: Environment,
  log: (line: string) => void,
): PreparedBuild {
  let current = environment;
  /** Arms that start at once have it repaired once. */
  let repair: Promise<Environment | null> | null = null;
  const startOrRepair = async (options: StartOptions): Promise<RunningTarget> => {
    try {
      return await start(name, spec, current, options);
    } catch (error) {
      if (!(error instanceof TargetError) || options.signal.aborted) throw error;
      repair ??= repairedEnvironment(current, { what: spec.package, signal: options.signal, log });
      const repaired = await repair;
      if (repaired === null) throw error;
      current = repaired;
      return start(name, spec, current, options);
    }
  };
  return {
    record: {
      build: name,
      kind: 'python',
      sdk: 'mcp',
      version: environment.mcp,
      packages: environment.packages,
      config: configRecord(spec, environment),
      abilities: { probe: true, pid: true, settings: spec.stateless ? [] : environment.settings },
    },
    foreign: false,
    start: startOrRepair,
  };
}

/** Configuration beyond the defaults. */
function configRecord(spec: PackageTarget, environment: Environment): PreparedBuild['record']['config'] {
  return {
    ...(spec.idleTimeout === undefined ? {} : { idleTimeout: spec.idleTimeout }),
    ...(spec.maxSessions === undefined ? {} : { maxSessions: spec.maxSessions }),
    ...(spec.stateless ? { stateless: true } : {}),
    ...(spec.jsonResponse ? { jsonResponse: true } : {}),
    ...(spec.workers === 1 ? {} : { workers: spec.workers }),
    ...(environment.asOf === undefined ? {} : { dependenciesAsOf: environment.asOf }),
  };
}

async function start(
  name: string,
  spec: PackageTarget,
  environment: Environment,
  options: StartOptions,
): Promise<RunningTarget> {
  const began = performance.now();
  const program = await startProgram({
    label: name,
    command: environment.python,
    args: [PYTHON_SERVER, ...serverArguments(spec, options)],
    // The user's own PYTHONPATH could bring in another mcp, so the probe stands there alone.
    env: { ...installerVariables(), PYTHONPATH: PYTHON_PROBE, [PROBE_DIR_VARIABLE]: options.probeDir },
    logFile: options.logFile,
  });
  const ready = await whenReady(program, () => Promise.resolve(findReadyLine(program)), options);
  return {
    url: ready.url,
    headers: {},
    pid: ready.pid,
    startMs: performance.now() - began,
    settings: { idleTimeoutSeconds: ready.idleTimeout, maxSessions: ready.maxSessions },
    tools: DEFAULT_TOOLS,
    alive: () => Promise.resolve(program.alive()),
    death: () => program.death(),
    stop: () => program.stop(),
  };
}

/** The case's settings rule over the configuration's; without either the build's own default does. */
function serverArguments(spec: PackageTarget, { settings }: StartOptions): string[] {
  const idleTimeout = settings.idleTimeoutSeconds ?? spec.idleTimeout;
  const maxSessions = settings.maxSessions ?? spec.maxSessions;
  return [
    ...(idleTimeout === undefined ? [] : ['--idle-timeout', String(idleTimeout ?? 'none')]),
    ...(maxSessions === undefined ? [] : ['--max-sessions', String(maxSessions ?? 'none')]),
    ...(spec.stateless ? ['--stateless'] : []),
    ...(spec.jsonResponse ? ['--json-response'] : []),
    ...(spec.workers === 1 ? [] : ['--workers', String(spec.workers)]),
  ];
}

function findReadyLine(program: Program): z.infer<typeof readyLine> | null {
  for (const line of program.log.next()) {
    if (!line.startsWith('{')) continue;
    try {
      const parsed = readyLine.safeParse(JSON.parse(line));
      if (parsed.success) return parsed.data;
    } catch {
      // Something else that begins with a brace.
    }
  }
  return null;
}
