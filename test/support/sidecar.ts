/** The containers that deploy/kubernetes/sidecar adds, as processes: their own commands, with its paths mapped. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { execa } from 'execa';
import { COMMAND } from './cli.ts';
import { projectFile } from './compose.ts';
import type { Resource } from './kustomize.ts';

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly resources: Readonly<Record<string, object>>;
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}

export interface Pod {
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly initContainers: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string; readonly emptyDir?: object }[];
}

interface Template {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: Pod;
}

export const templateOf = (resource: Resource | undefined): Template =>
  (resource?.spec as { template: Template }).template;

export const PROBE_FILES = '/opt/mcp-retention/probes/python';

/** Every mount of the container, and what the image has at PROBE_FILES, below one folder of ours. */
export class Mapping {
  readonly #places: readonly (readonly [string, string])[];

  constructor(folder: string, pod: Pod) {
    const mounts = [...pod.initContainers, ...pod.containers].flatMap(
      ({ volumeMounts = [] }) => volumeMounts,
    );
    const emptyDirs = mounts.map(({ name, mountPath }) => [mountPath, join(folder, name)] as const);
    for (const [, path] of emptyDirs) {
      mkdirSync(path, { recursive: true });
      // As the kubelet makes them.
      chmodSync(path, 0o777);
    }
    this.#places = [[PROBE_FILES, projectFile('probes/python').pathname], ...emptyDirs];
  }

  of(text: string): string {
    // The longest first: one may begin with another.
    const places = [...this.#places].sort(([a], [b]) => b.length - a.length);
    return places.reduce(
      (mapped, [path, ours]) => mapped.replaceAll(new RegExp(`${path}(?![\\w-])`, 'g'), ours),
      text,
    );
  }

  environmentOf({ env = [] }: Container): Record<string, string> {
    return Object.fromEntries(env.map(({ name, value }) => [name, this.of(value)]));
  }
}

export async function runToEnd(container: Container, mapping: Mapping): Promise<void> {
  const [program = '', ...rest] = [...(container.command ?? []), ...(container.args ?? [])];
  await execa(
    program,
    rest.map((text) => mapping.of(text)),
    { env: mapping.environmentOf(container) },
  );
}

/** `host:port` on loopback, where the exporter serves until the test ends. */
export async function startContainer(
  t: TestContext,
  container: Container,
  mapping: Mapping,
): Promise<string> {
  const args = (container.args ?? []).map((text) =>
    mapping.of(text).replace(/^0\.0\.0\.0:\d+$/, '127.0.0.1:0'),
  );
  const [program = '', ...command] = COMMAND;
  const child = spawn(program, [...command, ...args], {
    env: { ...process.env, ...mapping.environmentOf(container) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return new URL(line.replace('serving ', '')).host;
}
