/**
 * A server program of the user's, started by its command line.
 */
import path from 'node:path';
import type { CaseSettings } from '../cases/case.ts';
import type { CommandTarget } from '../config/schema.ts';
import { PROBE_DIR_VARIABLE } from '../observe/snapshot.ts';
import {
  declaredRecord,
  declaredSettings,
  declaredTools,
  expandHeaders,
  type Variables,
} from './declared.ts';
import { listenerOf } from './group.ts';
import { addressOf, connects, freePort, parseUrl, requireAllowedHost } from './loopback.ts';
import { PYTHON_PROBE } from './paths.ts';
import { redactArguments } from './secrets.ts';
import { startProgram, whenReady } from './supervisor.ts';
import {
  TargetError,
  type Build,
  type PreparedBuild,
  type RunningTarget,
  type StartOptions,
} from './target.ts';

const READY_TIMEOUT_MS = 1_000;

export interface CommandOptions {
  readonly allowHosts: readonly string[];
  /** Default: the environment. */
  readonly variables?: Variables;
}

/** @throws UsageError when the URL or a header is wrong. */
export function commandBuild(name: string, spec: CommandTarget, options: CommandOptions): Build {
  const headers = expandHeaders(spec.headers ?? {}, name, options.variables);
  const fill = (text: string): string => text.replaceAll('{port}', '1');
  const urls = [spec.url, ...('url' in spec.readiness ? [spec.readiness.url] : [])].map((text) =>
    parseUrl(fill(text)),
  );
  return {
    name,
    admit: async () => {
      for (const url of urls) await requireAllowedHost(url, options.allowHosts);
    },
    prepare: () => Promise.resolve(prepared(name, spec, headers)),
  };
}

function prepared(name: string, spec: CommandTarget, headers: Record<string, string>): PreparedBuild {
  const { idleTimeout, maxSessions } = spec.settings;
  return {
    record: {
      build: name,
      kind: 'command',
      sdk: null,
      version: null,
      packages: {},
      config: {
        command: redactArguments([spec.command, ...spec.args]).join(' '),
        probe: spec.probe,
        ...declaredRecord(spec, headers),
      },
      abilities: {
        probe: spec.probe !== 'none',
        pid: true,
        settings: [
          ...(idleTimeout === undefined ? [] : (['idleTimeout'] as const)),
          ...(maxSessions === undefined ? [] : (['maxSessions'] as const)),
        ],
      },
    },
    foreign: false,
    start: (options) => start(name, spec, headers, options),
  };
}

/** A case's settings as this command takes them. */
export function routeSettings(
  routes: CommandTarget['settings'],
  settings: CaseSettings,
): {
  env: Record<string, string>;
  args: string[];
  known: { idleTimeoutSeconds?: number; maxSessions?: number };
} {
  const result: ReturnType<typeof routeSettings> = { env: {}, args: [], known: {} };
  const wanted = [
    ['idleTimeoutSeconds', routes.idleTimeout],
    ['maxSessions', routes.maxSessions],
  ] as const;
  for (const [setting, route] of wanted) {
    const value = settings[setting];
    if (value === undefined || route === undefined) continue;
    result.known[setting] = value;
    if ('env' in route) result.env[route.env] = String(value);
    else result.args.push(...route.args.map((argument) => argument.replaceAll('{value}', String(value))));
  }
  return result;
}

async function start(
  name: string,
  spec: CommandTarget,
  headers: Record<string, string>,
  options: StartOptions,
): Promise<RunningTarget> {
  const port = String(await freePort());
  const fill = (text: string): string => text.replaceAll('{port}', port);
  const url = parseUrl(fill(spec.url));
  // Without {port} a stranger may listen there already, and would be measured in its place.
  if (await connects(url)) {
    throw new TargetError(
      `${name} cannot be started because ${url.host} is taken: use {port} in its arguments and URL.`,
    );
  }
  const routed = routeSettings(spec.settings, options.settings);
  const began = performance.now();
  const program = await startProgram({
    label: name,
    command: spec.command,
    args: [...spec.args, ...routed.args].map(fill),
    env: environment(spec, options, { ...mapValues(spec.env, fill), ...routed.env }),
    ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
    logFile: options.logFile,
  });
  const serves = readiness(spec, url, fill);
  await whenReady(program, async () => ((await serves()) ? true : null), options);
  return {
    url: url.href,
    headers,
    pid: listenerOf(addressOf(url).port, program.pid),
    startMs: performance.now() - began,
    settings: { ...declaredSettings(spec), ...routed.known },
    tools: declaredTools(spec),
    alive: () => Promise.resolve(program.alive()),
    death: () => program.death(),
    stop: () => program.stop(),
  };
}

function environment(
  spec: CommandTarget,
  { probeDir }: StartOptions,
  own: Record<string, string>,
): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, ...own };
  // Servers load faster with their byte code kept, so the user's shell does not decide it.
  if (own.PYTHONDONTWRITEBYTECODE === undefined) delete env.PYTHONDONTWRITEBYTECODE;
  if (spec.probe !== 'none') env[PROBE_DIR_VARIABLE] = probeDir;
  if (spec.probe === 'python') {
    env.PYTHONPATH = [PYTHON_PROBE, env.PYTHONPATH].filter(Boolean).join(path.delimiter);
  }
  return env;
}

function readiness(spec: CommandTarget, url: URL, fill: (text: string) => string): () => Promise<boolean> {
  if (!('url' in spec.readiness)) return () => connects(url);
  const route = fill(spec.readiness.url);
  return async () => {
    try {
      const answer = await fetch(route, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
      await answer.body?.cancel();
      return answer.ok;
    } catch {
      return false; // not yet
    }
  };
}

const mapValues = (
  values: Record<string, string>,
  change: (text: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
