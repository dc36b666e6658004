/** docker-compose.yml and the Dockerfiles in deploy/, read for tests. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Service {
  readonly image?: string;
  readonly pull_policy?: string;
  readonly build?: {
    readonly context: string;
    readonly dockerfile: string;
    readonly args?: Readonly<Record<string, string>>;
  };
  readonly command?: readonly string[];
  readonly profiles?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly mem_limit?: string;
  readonly restart?: string;
  readonly tmpfs?: readonly string[];
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** A file of the project, by its path from the project's folder. */
export const projectFile = (path: string): URL => new URL(`../../${path}`, import.meta.url);
export const readProjectFile = (path: string): string => readFileSync(projectFile(path), 'utf8');

/** An image is built by one service, and the others that name it run it: they have its `build` here, too. */
export function readCompose(): Compose {
  const compose = parse(readProjectFile('docker-compose.yml'), { merge: true }) as Compose;
  const builds = new Map(
    Object.values(compose.services).flatMap(({ image, build }) =>
      build === undefined ? [] : [[image, build]],
    ),
  );
  const services = Object.entries(compose.services).map(([name, service]): [string, Service] => {
    const build = builds.get(service.image);
    return [name, { ...service, ...(build !== undefined && { build }) }];
  });
  return { ...compose, services: Object.fromEntries(services) };
}

/** The last ENTRYPOINT of a Dockerfile, which must be in its exec form. */
export function entrypointOf(dockerfile: string): readonly string[] {
  const [, json = ''] = [...readProjectFile(dockerfile).matchAll(/^ENTRYPOINT (\[.*\])$/gm)].at(-1) ?? [];
  return JSON.parse(json) as string[];
}

const joined = (dockerfile: string): string => readProjectFile(dockerfile).replace(/\\\n\s*/g, '');

/** What the last stage of a Dockerfile sets by ENV. */
export function environmentOf(dockerfile: string): Readonly<Record<string, string>> {
  const last =
    joined(dockerfile)
      .split(/^FROM /m)
      .at(-1) ?? '';
  const pairs = [...last.matchAll(/^ENV (.*)$/gm)].flatMap(([, text = '']) => text.split(' '));
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
}

export interface Directory {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** A directory that an image has by `install --directory`; null where it has none at that path. */
export function directoryOf(dockerfile: string, path: string): Directory | null {
  const made = /install --directory --owner=(\d+) --group=(\d+) --mode=(\d+) ([^\n&]+)/g;
  for (const [, uid, gid, mode = '', paths = ''] of joined(dockerfile).matchAll(made))
    if (paths.trim().split(' ').includes(path))
      return { uid: Number(uid), gid: Number(gid), mode: parseInt(mode, 8) };
  return null;
}

/** `SOURCE:TARGET[:MODE]` */
export function mountOf(volume: string): {
  readonly source: string;
  readonly target: string;
  readonly mode: string;
} {
  const [source = '', target = '', mode = 'rw'] = volume.split(':');
  return { source, target, mode };
}
