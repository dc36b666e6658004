/**
 * Services of docker-compose.yml as plain processes: their own commands, users, files and volumes, with each service's
 * name mapped to a loopback address of its own. Where processes can be confined, each sees what its container would;
 * elsewhere they run as the present user, and paths in containers are mapped to paths here as well.
 */
import { execa } from 'execa';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { directoryOf, mountOf, projectFile, readCompose, readProjectFile, type Service } from './compose.ts';
import { confined, confinedPid, CONTAINER_PATH, unconfinable, type Mount } from './confined.ts';
import { imageOf } from './images.ts';

type Text = Readonly<Record<string, string>>;

interface Started {
  readonly pid: () => number | null;
  readonly ended: Promise<unknown>;
  over: boolean;
  said: string;
}

const DEADLINE_MS = 120_000;
const GRACE_MS = 30_000;

export class Composed {
  /** Scratch of all services: volumes and files. */
  readonly folder = mkdtempSync(join(tmpdir(), 'mcpr-compose-'));
  readonly #names: readonly string[];
  readonly #changes: Readonly<Record<string, Partial<Service>>>;
  readonly #services = readCompose().services;
  readonly #running = new Map<string, Started>();

  /**
   * @param names services of the compose file, those that others wait for first
   * @param changes what is another than in the compose file, by service
   */
  constructor(names: readonly string[], changes: Readonly<Record<string, Partial<Service>>> = {}) {
    this.#names = names;
    this.#changes = changes;
    // Compose makes all containers, in the order of their dependencies, before it starts the first.
    for (const name of names) makeVolumes(this.folder, this.service(name));
  }

  service(name: string): Service {
    return { ...this.#services[name], ...this.#changes[name] };
  }

  /** A service's own address: 127.0.0.0/8 is loopback altogether; by the process id, so that two runs do not meet. */
  address(name: string): string {
    const { pid } = process;
    return `127.${64 + (pid % 128)}.${Math.floor(pid / 128) % 256}.${this.#names.indexOf(name) + 1}`;
  }

  /** URL of a page of a service, by the port of its health check. */
  url(name: string, path?: string): string {
    const asked = /http:\/\/127\.0\.0\.1:(\d+)(\/\w+)/.exec(
      this.service(name).healthcheck?.test.join(' ') ?? '',
    );
    return `http://${this.address(name)}:${asked?.[1] ?? ''}${path ?? asked?.[2] ?? ''}`;
  }

  /** Text of a file of the project with names and paths mapped, as the service would see it. */
  mapped(name: string, path: string): string {
    return this.#map(name, readProjectFile(path), []);
  }

  /** The folder that stands for a named volume. */
  volume(name: string): string {
    return join(this.folder, name);
  }

  async start(name: string): Promise<void> {
    const service = this.service(name);
    for (const { source } of (service.volumes ?? []).map(mountOf))
      if (source.startsWith('./')) writeFor(copyOf(this.folder, name, source), this.mapped(name, source));
    const image = await imageOf(service);
    const map = (text: string): string => this.#map(name, text, image.mounts);
    const command = [...image.entrypoint, ...(service.command ?? [])].map(map);
    const env = Object.fromEntries(Object.entries(image.env).map(([key, text]) => [key, map(text)]));
    const root = join(this.folder, `root-of-${name}`);
    mkdirSync(root);
    const mounts = [...image.mounts, ...this.#mounts(name), ...temporary(service)];
    const line =
      unconfinable === null ? confined(command, { user: service.user ?? '', root, mounts }) : command;
    this.#running.set(name, run(line, env));
  }

  /** Resolves once the URL of the service's health check answers. @throws where the service ends before */
  async healthy(name: string): Promise<void> {
    const started = this.#started(name);
    const deadline = Date.now() + DEADLINE_MS;
    while (!started.over && Date.now() < deadline) {
      if (await answers(this.url(name))) return;
      await sleep(200);
    }
    throw new Error(`${name} ${started.over ? 'has ended' : 'is not healthy'}: ${started.said}`);
  }

  /** Process id of a service that runs, seen from here. */
  pid(name: string): number {
    const pid = this.#started(name).pid();
    if (pid === null) throw new Error(`${name} does not run: ${this.said(name)}`);
    return pid;
  }

  /** What a service has said on stderr. */
  said(name: string): string {
    return this.#started(name).said;
  }

  /** Ends all of them with SIGTERM, the last started first. @returns those that had to be killed */
  async stop(): Promise<string[]> {
    const killed: string[] = [];
    for (const [name, started] of [...this.#running].reverse()) if (await end(started)) killed.push(name);
    rmSync(this.folder, { recursive: true, force: true });
    return killed;
  }

  #started(name: string): Started {
    const started = this.#running.get(name);
    if (started === undefined) throw new Error(`${name} was not started`);
    return started;
  }

  #mounts(name: string): Mount[] {
    return (this.service(name).volumes ?? []).map(mountOf).map(({ source, target, mode }) => ({
      kind: mode === 'ro' ? 'ro' : 'rw',
      source: source.startsWith('./') ? copyOf(this.folder, name, source) : this.volume(source),
      target,
    }));
  }

  #map(name: string, text: string, image: readonly Mount[]): string {
    const moved = unconfinable === null ? [] : [...this.#mounts(name), ...image];
    return moved
      .reduce((all, { source, target }) => all.replaceAll(target, source), text)
      .replaceAll('0.0.0.0', this.address(name))
      .replace(/\b([a-z]+)(?=:\d{4,5}\b)/g, (one) => (this.#names.includes(one) ? this.address(one) : one));
  }
}

const copyOf = (folder: string, service: string, source: string): string =>
  join(folder, `${service}-${source.replaceAll('/', '_')}`);

function writeFor(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o644);
}

const temporary = ({ tmpfs = [] }: Service): Mount[] =>
  tmpfs.map((text) => {
    const [target = '', options = ''] = text.split(':');
    return { kind: 'tmpfs', source: `mode=1777,noexec,nosuid,nodev,${options}`, target };
  });

/** A named volume takes owner and mode from the image's directory at its place, each time while it is empty. */
function makeVolumes(folder: string, { build, volumes = [] }: Service): void {
  for (const { source, target } of volumes.map(mountOf)) {
    if (source.startsWith('./')) continue;
    const path = join(folder, source);
    const image = build === undefined ? null : directoryOf(build.dockerfile, target);
    mkdirSync(path, { recursive: true });
    if (unconfinable !== null) chmodSync(path, 0o700);
    else if (image !== null) {
      chownSync(path, image.uid, image.gid);
      chmodSync(path, image.mode);
    }
  }
}

function run([file = '', ...args]: readonly string[], env: Text): Started {
  const child = execa(file, args, {
    cwd: '/',
    // Docker's own PATH, or what finds programs here.
    env: { ...env, PATH: unconfinable === null ? CONTAINER_PATH : (process.env.PATH ?? CONTAINER_PATH) },
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
    buffer: false,
  });
  const { pid } = child;
  const own = (): number | null =>
    unconfinable === null && pid !== undefined ? confinedPid(pid) : (pid ?? null);
  const ended = child.then(() => {
    started.over = true;
  });
  const started: Started = { pid: () => (started.over ? null : own()), ended, over: false, said: '' };
  child.stderr.setEncoding('utf8').on('data', (text: string) => (started.said += text));
  child.stdout.resume();
  return started;
}

const answers = (url: string): Promise<boolean> => fetch(url).then(({ ok }) => ok, () => false); // prettier-ignore

/** SIGTERM, and SIGKILL where that does not do. @returns whether it did not */
async function end(started: Started): Promise<boolean> {
  signal(started, 'SIGTERM');
  const inTime = await Promise.race([started.ended, sleep(GRACE_MS, false, { ref: false })]);
  if (inTime !== false) return false;
  signal(started, 'SIGKILL');
  await started.ended;
  return true;
}

function signal(started: Started, name: NodeJS.Signals): void {
  const pid = started.pid();
  try {
    if (pid !== null) process.kill(pid, name);
  } catch {
    // It has ended just now.
  }
}

/** The rule file that the demonstration's Prometheus loads. */
export const DEMO_RULES = projectFile('deploy/prometheus/rules/mcp-retention.rules.yml').pathname;
