/** cases, targets and probe: what there is. */
import { CASES } from '../cases/index.ts';
import { loadConfig } from '../config/load.ts';
import type { TargetConfig } from '../config/schema.ts';
import { plain } from '../report/plain.ts';
import { PYTHON_PROBE } from '../targets/paths.ts';
import { publicUrl, redactArguments } from '../targets/secrets.ts';
import { claimOf } from '../verdict/claims/index.ts';
import { BUILT_IN } from './measure.ts';

export function listCases(): string {
  return CASES.map((definition) => {
    const { sessions, warmUp, concurrency } = definition.size;
    const claims = definition.claims.map((id) => `    ${id.padEnd(30)} ${claimOf(id).says}`);
    const size = `${sessions} sessions after ${warmUp} of warm-up, ${concurrency} at a time`;
    return [`${definition.id}: ${definition.title} (${size})`, ...claims].join('\n');
  }).join('\n\n');
}

/** @throws ConfigError; the signal's reason */
export async function listTargets(configFile: string | undefined, signal: AbortSignal): Promise<string> {
  const config = await loadConfig(configFile, signal);
  const named = Object.entries(config.targets).map(
    ([name, target]) => `  ${name}  ${plain(describe(target))}`,
  );
  return [
    'Built in (what the demo measures):',
    ...BUILT_IN.map((name) => `  ${name}`),
    'Any published version of the Python SDK:',
    '  python:mcp@VERSION, python:mcp@latest',
    'A server that runs already:',
    '  http://127.0.0.1:PORT/mcp',
    ...(named.length > 0 ? ['From the configuration:', ...named] : []),
  ].join('\n');
}

function describe(target: TargetConfig): string {
  if ('package' in target) return target.package;
  if ('command' in target) return redactArguments([target.command, ...target.args]).join(' ');
  return publicUrl(target.url);
}

export function pythonProbe(pathOnly: boolean): string {
  if (pathOnly) return PYTHON_PROBE;
  return `Start your server with two more environment variables; its code stays as it is:

  export PYTHONPATH="${PYTHON_PROBE}\${PYTHONPATH:+:$PYTHONPATH}"
  export MCP_RETENTION_PROBE_DIR="$(mktemp -d)"

Each worker process then answers on a Unix socket in that folder, for example:

  curl --unix-socket "$MCP_RETENTION_PROBE_DIR"/*.sock http://probe/v1/snapshot

and mcp-retention counts its registry:

  mcp-retention check http://127.0.0.1:8000/mcp --probe-dir "$MCP_RETENTION_PROBE_DIR" --pid PID

MCP_RETENTION_PROBE=off switches it off. A server that mcp-retention starts itself (command in
mcp-retention.yaml) gets all of this from "probe: python".`;
}
