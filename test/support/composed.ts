/**
 * Services of docker-compose.yml as plain processes: their own commands and files, with each service's name mapped to
 * a loopback address of its own, and paths in containers to paths here.
 */
import { execa } from 'execa';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installEnvironment } from '../../src/targets/environment.ts';
import { PYTHON_PROBE, PYTHON_SERVER } from '../../src/targets/paths.ts';
import { COMMAND } from './cli.ts';
import { mountOf, projectFile, readCompose, readProjectFile, type Service } from './compose.ts';

export interface Composed {
  /** A service's own address. */
  address(service: string): string;
  /** Text of a file of the project with names and paths mapped, as the service would see it. */
  mapped(service: string, path: string): string;
  start(service: string): Promise<void>;
  /** What a service has said on stderr. */
  said(service: string): string;
  /** Ends one service with SIGTERM, or all of them, the last started first. */
  stop(service?: string): Promise<void>;
}

interface Started {
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<unknown>;
  said: string;
}

export function composed(names: readonly string[]): Composed {
  const { services } = readCompose();
  const folder = mkdtempSync(join(tmpdir(), 'mcpr-compose-'));
  const running = new Map<string, Started>();
  // 127.0.0.0/8 is loopback altogether; by the process id, so that two runs do not meet.
  const block = `127.${String(64 + (process.pid % 128))}.${String(Math.floor(process.pid / 128) % 256)}`;
  const address = (service: string): string => `${block}.${String(names.indexOf(service) + 1)}`;
  const serviceOf = (name: string): Service => services[name] ?? {};

  const paths = (service: string): (readonly [string, string])[] =>
    (serviceOf(service).volumes ?? []).map(mountOf).map(({ source, target }) => {
      if (!source.startsWith('./')) return [target, join(folder, source)] as const;
      const copy = join(folder, `${service}-${source.replaceAll('/', '_')}`);
      return [target, copy] as const;
    });
  const map = (service: string, text: string): string => {
    const placed = paths(service).reduce((all, [from, to]) => all.replaceAll(from, to), text);
    return placed
      .replaceAll('0.0.0.0', address(service))
      .replace(/\b([a-z]+)(?=:\d{4,5}\b)/g, (name) => (names.includes(name) ? address(name) : name));
  };
  const mapped = (service: string, path: string): string => map(service, readProjectFile(path));

  const prepare = (service: string): void => {
    for (const { source } of (serviceOf(service).volumes ?? []).map(mountOf)) {
      if (source.startsWith('./')) {
        const copy = join(folder, `${service}-${source.replaceAll('/', '_')}`);
        writeFileSync(copy, mapped(service, source));
      } else mkdirSync(join(folder, source), { recursive: true, mode: 0o700 });
    }
  };

  const start = async (service: string): Promise<void> => {
    prepare(service);
    const { build, command = [] } = serviceOf(service);
    const args = command.map((text) => map(service, text));
    const version = build?.args?.MCP_VERSION;
    const [file = '', ...rest] = version === undefined ? COMMAND : [await pythonOf(version), PYTHON_SERVER];
    const env = version === undefined ? {} : serverEnvironment(map(service, '/run/mcp-retention/probe'));
    const child = execa(file, [...rest, ...args], {
      cwd: folder,
      env,
      stdin: 'ignore',
      reject: false,
      buffer: false,
    });
    const started: Started = { kill: (signal) => child.kill(signal), ended: child, said: '' };
    child.stderr.setEncoding('utf8').on('data', (text: string) => (started.said += text));
    child.stdout.resume();
    running.set(service, started);
  };

  const stop = async (service?: string): Promise<void> => {
    const all = [...running.keys()].reverse().filter((name) => service === undefined || name === service);
    for (const name of all) {
      const started = running.get(name);
      running.delete(name);
      started?.kill('SIGTERM');
      await started?.ended;
    }
    if (service === undefined) rmSync(folder, { recursive: true, force: true });
  };

  return { address, mapped, start, said: (service) => running.get(service)?.said ?? '', stop };
}

const serverEnvironment = (probeDir: string): Record<string, string> => ({
  PYTHONPATH: PYTHON_PROBE,
  PYTHONDONTWRITEBYTECODE: '1',
  MCP_RETENTION_PROBE_DIR: probeDir,
});

async function pythonOf(version: string): Promise<string> {
  const { python } = await installEnvironment(version, {
    what: `python:mcp@${version}`,
    signal: new AbortController().signal,
    log: () => undefined,
  });
  return python;
}

/** The rule file that the demonstration's Prometheus loads. */
export const DEMO_RULES = projectFile('deploy/prometheus/rules/mcp-retention.rules.yml').pathname;
