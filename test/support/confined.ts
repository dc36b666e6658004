/**
 * Runs a program as a container would: as a user of its own without capabilities, in PID and mount namespaces of its
 * own, with nothing in view but what is mounted for it. By util-linux; Linux and root only.
 */
import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathOf } from './programs.ts';

export interface Mount {
  /** ro, rw: a file or folder of ours. link: a symbolic link's text. tmpfs: its options. */
  readonly kind: 'ro' | 'rw' | 'link' | 'tmpfs';
  readonly source: string;
  /** Absolute, in the program's view. */
  readonly target: string;
}

export interface Confinement {
  /** `UID:GID` */
  readonly user: string;
  /** An empty folder; in the program's view it is the root. */
  readonly root: string;
  readonly mounts: readonly Mount[];
}

/** Docker's own default. */
export const CONTAINER_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const SHARED = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const CONFIGURED = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/hosts', '/etc/nsswitch.conf'];
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom'].map((name) => `/dev/${name}`);
const UNSHARE: readonly [string, ...string[]] = [
  'unshare',
  '--pid',
  '--fork',
  '--mount',
  '--kill-child',
  '--',
];

/** $1: the root; then KIND SOURCE TARGET for each mount; then `--` and the program. */
const BUILD_VIEW = `
set -eu
umask 022
root=$1
shift
mount -t tmpfs -o mode=0755,size=16m tmpfs "$root"
while [ "$1" != -- ]; do
  kind=$1 source=$2 target=$root$3
  shift 3
  mkdir -p "\${target%/*}"
  case $kind in
    link) ln -s "$source" "$target" ;;
    tmpfs)
      mkdir -p "$target"
      mount -t tmpfs -o "$source" tmpfs "$target"
      ;;
    *)
      [ -e "$target" ] || if [ -d "$source" ]; then mkdir "$target"; else : >"$target"; fi
      mount -o "bind,$kind" "$source" "$target"
      ;;
  esac
done
shift
mkdir "$root/proc" "$root/sys"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -o remount,ro "$root"
exec chroot "$root" "$@"
`;

/** Why programs cannot be confined here; null where they can. */
export const unconfinable: string | null = whyNot();

function whyNot(): string | null {
  if (process.platform !== 'linux') return 'not on Linux';
  if (process.getuid?.() !== 0) return 'not as root';
  const missing = ['unshare', 'setpriv', 'mount', 'chroot'].find((name) => pathOf(name) === null);
  if (missing !== undefined) return `without ${missing}`;
  const [file, ...args] = [...UNSHARE, 'sh', '-c', 'mount -t tmpfs tmpfs /tmp && mount -t proc proc /proc'];
  const { status, stderr } = spawnSync(file, args, { encoding: 'utf8' });
  return status === 0 ? null : `no namespaces: ${stderr.trim()}`;
}

/**
 * The command that runs a command confined. It ends when the command does, and the command is killed, with all that
 * it started, when this process ends, however that happens.
 */
export function confined(command: readonly string[], { user, root, mounts }: Confinement): string[] {
  const [uid = '', gid = ''] = user.split(':');
  const all = [...systemMounts(), ...mounts].sort((a, b) => (a.target < b.target ? -1 : 1));
  const dropped = ['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'];
  // A change of user forgets what --kill-child has set, so that is set again.
  const killed = ['--pdeathsig', 'KILL'];
  return [
    ...['setpriv', ...killed, '--', ...UNSHARE, 'sh', '-c', BUILD_VIEW, 'sh', root],
    ...all.flatMap(({ kind, source, target }) => [kind, source, target]),
    ...['--', 'setpriv', '--reuid', uid, '--regid', gid, '--clear-groups', ...dropped, ...killed, '--'],
    ...command,
  ];
}

function systemMounts(): Mount[] {
  return [...SHARED, ...CONFIGURED, ...DEVICES].flatMap((path): Mount[] => {
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status === undefined) return [];
    if (SHARED.includes(path) && status.isSymbolicLink())
      return [{ kind: 'link', source: readlinkSync(path), target: path }];
    return [{ kind: path.startsWith('/dev/') ? 'rw' : 'ro', source: path, target: path }];
  });
}

/** What a program needs to run at its own path: the prefix of its file, and of each that it links to. */
export function programMounts(file: string): Mount[] {
  const prefixes = new Set<string>();
  for (let path: string | null = file; path !== null; path = linked(path))
    prefixes.add(dirname(dirname(path)));
  prefixes.delete('/');
  return [...prefixes].map((path) => ({ kind: 'ro', source: path, target: path }));
}

const linked = (path: string): string | null =>
  lstatSync(path).isSymbolicLink() ? resolve(dirname(path), readlinkSync(path)) : null;

/** The confined program's own process id, seen from here; null while there is none. `pid`: of the whole command. */
export function confinedPid(pid: number): number | null {
  const [child = ''] = orNothing(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ');
  return child === '' ? null : Number(child);
}

export interface Seen {
  /** Real, effective, saved and of the file system. */
  readonly uids: readonly number[];
  readonly gids: readonly number[];
  readonly groups: readonly number[];
  /** Effective and bounding capabilities, hexadecimal. */
  readonly capabilities: readonly string[];
  readonly namespaces: Namespaces;
  /** Command lines of the processes in its own /proc. */
  readonly processes: readonly string[];
}

export interface Namespaces {
  readonly pid: string;
  readonly mnt: string;
}

export const namespacesOf = (pid: number | 'self'): Namespaces => ({
  pid: readlinkSync(`/proc/${pid}/ns/pid`),
  mnt: readlinkSync(`/proc/${pid}/ns/mnt`),
});

/** Processes, seen from here, that live in one of the PID namespaces. */
export const living = (namespaces: readonly Namespaces[]): string[] =>
  numbersIn('/proc').filter((pid) => {
    const own = orNothing(() => readlinkSync(`/proc/${pid}/ns/pid`));
    return namespaces.some((one) => one.pid === own);
  });

const numbersIn = (proc: string): string[] => readdirSync(proc).filter((name) => /^\d+$/.test(name));

/** Of a process that may end meanwhile. */
function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** A process as the kernel describes it from outside. */
export function seen(pid: number): Seen {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): string[] =>
    (new RegExp(`^${name}:(.*)$`, 'm').exec(status)?.[1] ?? '').split(/\s+/).filter((text) => text !== '');
  const proc = `/proc/${pid}/root/proc`;
  return {
    uids: field('Uid').map(Number),
    gids: field('Gid').map(Number),
    groups: field('Groups').map(Number),
    capabilities: [...field('CapEff'), ...field('CapBnd')],
    namespaces: namespacesOf(pid),
    processes: numbersIn(proc).map((name) =>
      orNothing(() => readFileSync(`${proc}/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()),
    ),
  };
}
