/**
 * A server that someone else runs, known by its URL.
 */
import type { UrlTarget } from '../config/schema.ts';
import { readProcess } from '../observe/process.ts';
import {
  declaredRecord,
  declaredSettings,
  declaredTools,
  expandHeaders,
  type Variables,
} from './declared.ts';
import { connects, parseUrl, requireAllowedHost } from './loopback.ts';
import { publicUrl } from './secrets.ts';
import { TargetError, UsageError, type Build, type PreparedBuild, type RunningTarget } from './target.ts';

export interface UrlOptions {
  readonly allowHosts: readonly string[];
  /** Someone runs the server with a probe, and we were told its directory. */
  readonly probe: boolean;
  /** Default: the environment. */
  readonly variables?: Variables;
}

/** @throws UsageError when the URL or a header is wrong. */
export function urlBuild(name: string, spec: UrlTarget, options: UrlOptions): Build {
  const url = parseUrl(spec.url);
  const headers = expandHeaders(spec.headers ?? {}, name, options.variables);
  return {
    name,
    admit: async () => {
      await requireAllowedHost(url, options.allowHosts);
      if (spec.pid !== undefined && readProcess(spec.pid) === null) {
        throw new UsageError(
          `${name}: there is no process ${spec.pid} whose memory can be read: check the pid.`,
        );
      }
    },
    prepare: () => Promise.resolve(prepared(name, spec, url, headers, options)),
  };
}

function prepared(
  name: string,
  spec: UrlTarget,
  url: URL,
  headers: Record<string, string>,
  { probe }: UrlOptions,
): PreparedBuild {
  return {
    record: {
      build: name,
      kind: 'url',
      sdk: null,
      version: null,
      packages: {},
      config: { url: publicUrl(url.href), ...declaredRecord(spec, headers) },
      abilities: { probe, pid: spec.pid !== undefined, settings: [] },
    },
    foreign: true,
    start: async () => {
      const target = running(name, spec, url, headers);
      if (await target.alive()) return target;
      throw new TargetError(`${target.death() ?? name}: start the server, or check the URL.`);
    },
  };
}

function running(name: string, spec: UrlTarget, url: URL, headers: Record<string, string>): RunningTarget {
  let answering = true;
  return {
    url: url.href,
    headers,
    pid: spec.pid ?? null,
    startMs: 0,
    settings: declaredSettings(spec),
    tools: declaredTools(spec),
    alive: async () => (answering = await connects(url)),
    death: () => (answering ? null : `${name} does not accept connections on ${url.host}`),
    stop: () => Promise.resolve(),
  };
}
