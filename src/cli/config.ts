/** config init and config check. */
import { writeFileSync } from 'node:fs';
import { ConfigError, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { reasonOf } from '../errno.ts';
import { resolveTarget } from '../targets/resolve.ts';
import { UsageError } from '../targets/target.ts';
import { checkAllowances } from './allow.ts';

export const SAMPLE_CONFIG = `# yaml-language-server: $schema=node_modules/mcp-retention/schemas/config.v1.json
# Configuration of mcp-retention. "mcp-retention config check" validates it; with mcp-retention in the project's
# node_modules, the line above lets an editor do so while you write.
version: 1

# What the operator wants. Without it, a server's own idle timeout and cap are the measure.
policy:
  # idleMax: 30m        # an abandoned session must be gone after this long
  # maxSessions: 500    # never more than this many at once

# Claims whose failure is allowed, each with its reason: it is shown, and fails nothing. An allowance whose claim
# passes everywhere is stale, and fails. "mcp-retention cases" lists the claims.
# allow:
#   abandon.bounded: we run behind a worker that is recycled every hour

# Servers by name: mcp-retention check NAME
targets:
  # A published version of the Python SDK, with settings of its own.
  unbounded:
    package: python:mcp@1.30.0
    idleTimeout: none   # seconds, a length of time such as 90s or 30m, or none
    maxSessions: none   # a number, or none
    # stateless: true
    # jsonResponse: true
    # workers: 2

  # Your own server, started for each case. {port} is a free port.
  # mine:
  #   command: python
  #   args: [server.py, --port, '{port}']
  #   env: { LOG_LEVEL: warning }
  #   url: http://127.0.0.1:{port}/mcp
  #   readiness: { url: 'http://127.0.0.1:{port}/healthz' }   # or { tcp: true }; never the endpoint itself
  #   probe: python       # python, self (it answers the probe's contract) or none
  #   settings:           # how the cases hand their settings to it; {value} stands for the number
  #     idleTimeout: { env: SESSION_IDLE_TIMEOUT }
  #     maxSessions: { args: [--max-sessions, '{value}'] }
  #   tools:              # instead of echo and sleep
  #     call: { name: lookup, arguments: { query: '{text}' } }

  # A server that runs already. Load leaves loopback only with --allow-host.
  # staging:
  #   url: http://127.0.0.1:8000/mcp
  #   pid: 4242
  #   headers: { Authorization: 'Bearer \${MCP_TOKEN}' }
  #   declared: { idleTimeout: 5s, maxSessions: 500 }

# Running servers whose metrics "mcp-retention exporter" serves. Each needs a probe: mcp-retention probe python
# exporter:
#   listen: 127.0.0.1:19640
#   targets:
#     shop:
#       probeDir: /run/mcp-shop     # all its workers, those that start later too
#       build: shop 4.2             # in place of what the probe says
#       labels: { team: search }
#     single:
#       probe: 127.0.0.1:7777       # one probe by its address
#       pid: 4242                   # so that its memory is there without the probe
`;

/** @throws ConfigError when the file is there already or cannot be written. */
export function configInit(file: string): string {
  try {
    writeFileSync(file, SAMPLE_CONFIG, { flag: 'wx' });
  } catch (error) {
    const there = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw new ConfigError(
      there
        ? `${file} is there already and stays as it is: remove it first, or name another file.`
        : `cannot write ${file}: ${reasonOf(error)}.`,
    );
  }
  return `wrote ${file}`;
}

/** @throws ConfigError where a target could not be measured whatever runs; the signal's reason */
export async function configCheck(file: string, signal: AbortSignal): Promise<string> {
  const config = await loadConfig(file, signal);
  const names = Object.keys(config.targets);
  const exported = Object.keys(config.exporter.targets);
  for (const name of names) checkTarget(name, config, file);
  checkAllowances(config, file);
  const targets = counted(names);
  return `${file} is valid: ${exported.length === 0 ? targets : `${targets}, ${counted(exported)} of the exporter`}`;
}

const counted = (names: readonly string[]): string =>
  `${names.length} target${names.length === 1 ? '' : 's'}${names.length > 0 ? ` (${names.join(', ')})` : ''}`;

function checkTarget(name: string, config: Config, file: string): void {
  try {
    // Where a configuration is checked, the secrets that it names need not be.
    resolveTarget(name, { config, allowHosts: [], headers: {}, variables: () => 'secret' });
  } catch (error) {
    if (error instanceof UsageError) throw new ConfigError(`${file}: targets.${name}: ${error.message}`);
    throw error;
  }
}
