/**
 * From what the user wrote as TARGET to a build.
 */
import { packageTarget, urlTarget, type Config, type TargetConfig } from '../config/schema.ts';
import { commandBuild } from './command.ts';
import type { Variables } from './declared.ts';
import { pythonBuild } from './python.ts';
import { publicUrl } from './secrets.ts';
import { UsageError, type Build } from './target.ts';
import { urlBuild } from './url.ts';

export interface ResolveOptions {
  readonly config: Config;
  /** Hosts other than this machine that may be put under load. */
  readonly allowHosts: readonly string[];
  /** Process of the server behind a URL. */
  readonly pid?: number;
  /** Sent with every request to a URL or a command, over those of the configuration. */
  readonly headers: Readonly<Record<string, string>>;
  /** Directory of the probe of a server that someone else runs. */
  readonly probeDir?: string;
  /** Where `${NAME}` in headers is looked up; default: the environment. */
  readonly variables?: Variables;
}

/**
 * `python:mcp@VERSION`, an http(s) URL, or a name from the configuration.
 * Whether a host may be put under load is checked when the build is prepared.
 * @throws UsageError in one sentence, with the mend.
 */
export function resolveTarget(text: string, options: ResolveOptions): Build {
  // A query may hold a token, and the name stands everywhere.
  if (isAddress(text)) return buildOfTarget(publicUrl(text), urlTarget.parse({ url: text }), options);
  if (text.startsWith('python:')) return buildOfTarget(text, packageTarget.parse({ package: text }), options);
  const { targets } = options.config;
  const named = Object.hasOwn(targets, text) ? targets[text] : undefined;
  if (named !== undefined) return buildOfTarget(text, named, options);
  const kind = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1];
  if (kind !== undefined) {
    throw new UsageError(
      `${kind}: targets are not supported yet: write python:mcp@VERSION, a URL, or a name from the configuration.`,
    );
  }
  const names = Object.keys(targets);
  const known = names.length === 0 ? 'it names none' : `it names ${names.join(', ')}`;
  throw new UsageError(
    `There is no target ${text} in the configuration (${known}): write one of its names, python:mcp@VERSION or a URL.`,
  );
}

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);

/** Is the target a package, which this tool serves itself: on loopback, with no headers and a known process? */
export function isPackage(text: string, { targets }: Config): boolean {
  const named = Object.hasOwn(targets, text) ? targets[text] : undefined;
  return text.startsWith('python:') || (named !== undefined && 'package' in named);
}

/**
 * A build of what the configuration, or a program, says of a target.
 * @throws UsageError in one sentence, with the mend.
 */
export function buildOfTarget(name: string, target: TargetConfig, options: ResolveOptions): Build {
  const { pid, headers, allowHosts, probeDir, variables } = options;
  if (pid !== undefined && !isUrl(target)) {
    throw new UsageError(`--pid goes with a URL: ${name} is started by this tool, which knows its process.`);
  }
  if ('package' in target) return pythonBuild(name, target);
  const known = variables === undefined ? {} : { variables };
  const withHeaders = { ...target, headers: { ...target.headers, ...headers } };
  if ('command' in withHeaders) return commandBuild(name, withHeaders, { allowHosts, ...known });
  return urlBuild(
    name,
    { ...withHeaders, ...(pid === undefined ? {} : { pid }) },
    {
      allowHosts,
      probe: probeDir !== undefined,
      ...known,
    },
  );
}

const isUrl = (target: TargetConfig): boolean => !('package' in target) && !('command' in target);
