/** From what a program gives as target to a build. */
import { basename } from 'node:path';
import type { z } from 'zod';
import { commandTarget, packageTarget, urlTarget, type TargetConfig } from '../config/schema.ts';
import { buildOfTarget } from '../targets/resolve.ts';
import { publicUrl, redactArguments } from '../targets/secrets.ts';
import { UsageError, type Build } from '../targets/target.ts';
import { checkedBy, type Checked } from './options.ts';

/**
 * A URL such as `http://127.0.0.1:8000/mcp`, a build such as `python:mcp@1.30.0`, or a target as mcp-retention.yaml
 * writes it: `{ url, … }`, `{ command, args, url, … }` or `{ package, … }`.
 */
export type Target =
  string | z.input<typeof urlTarget> | z.input<typeof commandTarget> | z.input<typeof packageTarget>;

type ServerOptions = Pick<Checked, 'allowHosts' | 'headers' | 'pid' | 'probeDir' | 'registry'>;

/** @throws UsageError */
export function buildOf(target: Target, options: ServerOptions, probeDir: string | undefined): Build {
  const spec = specOf(target);
  const name = nameOf(spec);
  refuseUnused(spec, name, options);
  return buildOfTarget(name, spec, {
    config: { version: 1, policy: {}, allow: {}, targets: {}, exporter: { targets: {} } },
    allowHosts: options.allowHosts,
    headers: options.headers,
    ...(options.pid !== undefined && { pid: options.pid }),
    ...(probeDir !== undefined && { probeDir }),
  });
}

function specOf(target: Target): TargetConfig {
  if (typeof target === 'string') {
    if (/^https?:\/\//i.test(target)) return checkedBy(urlTarget, { url: target }, 'target');
    if (target.startsWith('python:')) return checkedBy(packageTarget, { package: target }, 'target');
    throw new UsageError(
      'target: write a URL such as http://127.0.0.1:8000/mcp, a build such as python:mcp@1.30.0, or an object with a command.',
    );
  }
  if (typeof target === 'object' && (target as unknown) !== null) {
    if ('package' in target) return checkedBy(packageTarget, target, 'target');
    if ('command' in target) return checkedBy(commandTarget, target, 'target');
    if ('url' in target) return checkedBy(urlTarget, target, 'target');
  }
  throw new UsageError('target: name a url, a command or a package.');
}

const LONGEST_NAME = 60;

/** What it is called in reports: never a secret. */
function nameOf(spec: TargetConfig): string {
  if ('package' in spec) return spec.package;
  if (!('command' in spec)) return publicUrl(spec.url);
  const words = redactArguments([basename(spec.command), ...spec.args.map((arg) => basename(arg))]);
  return words.join(' ').slice(0, LONGEST_NAME);
}

/** What a target has no use for would be left out without a word. */
function refuseUnused(spec: TargetConfig, name: string, options: ServerOptions): void {
  const { headers, allowHosts, pid, probeDir, registry } = options;
  const ownServer = {
    headers: Object.keys(headers).length > 0,
    allowHosts: allowHosts.length > 0,
  };
  const running = {
    pid: pid !== undefined,
    probeDir: probeDir !== undefined,
    registry: registry !== undefined,
  };
  const unused = { ...('package' in spec && ownServer), ...(!isUrl(spec) && running) };
  const [option] = Object.entries(unused).find(([, given]) => given) ?? [];
  if (option !== undefined)
    throw new UsageError(
      `${option} goes with a server that runs already, given by its URL: ${name} is started for the measurement.`,
    );
}

const isUrl = (spec: TargetConfig): boolean => !('package' in spec) && !('command' in spec);
