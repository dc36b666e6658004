/**
 * The files of a probe directory: which probes they name, and where those listen. Whoever may write there may put
 * anything there, so nothing is opened that could block, and nothing is connected but sockets.
 */
import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { isExhausted, NO_DESCRIPTORS, ProbeError, type ProbePlace } from './probe-client.ts';

/** An address is a line of text: more than this is none. */
const MAX_ADDRESS_BYTES = 300;
/** A pipe that nobody writes to blocks a thread for ever, and a link may lead to a device. */
const WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** A file in a probe directory that says where a worker's probe listens. */
export interface ProbeFile {
  /** The worker's process id, as the file's name gives it. */
  readonly worker: string;
  readonly kind: 'socket' | 'address';
  readonly path: string;
}

/** A probe whose address is known beforehand, whichever process answers there. */
export interface FixedProbe {
  readonly worker: '*';
  readonly kind: 'fixed';
  /** `host:port` on loopback. */
  readonly path: string;
}

/** The probes that a directory names, a socket before an address, by process id. @throws ProbeError */
export async function probeFiles(dir: string): Promise<ProbeFile[]> {
  const found = new Map<string, ProbeFile>();
  for (const name of await namesIn(dir)) {
    const [, worker, ending] = /^([1-9]\d*)\.(sock|addr)$/.exec(name) ?? [];
    if (worker === undefined) continue;
    const kind = ending === 'sock' ? 'socket' : 'address';
    if (kind === 'socket' || !found.has(worker)) found.set(worker, { worker, kind, path: join(dir, name) });
  }
  return [...found.values()].sort((a, b) => Number(a.worker) - Number(b.worker));
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (isExhausted(error)) throw new ProbeError(NO_DESCRIPTORS);
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new ProbeError(`The probe directory cannot be read${code}.`);
  }
}

/** Where a probe listens. @throws ProbeError */
export async function placeOf({ kind, path }: ProbeFile | FixedProbe): Promise<ProbePlace> {
  if (kind === 'fixed') return { kind: 'address', address: path };
  if (kind === 'socket') {
    // Of one that is gone by now, connecting tells.
    if ((await stat(path).catch(() => null))?.isSocket() === false)
      throw new ProbeError("The probe's .sock file is no socket.", 'absent');
    return { kind, path };
  }
  const address = (await textOf(path)).trim();
  if (!isOnLoopback(address))
    throw new ProbeError("The probe's address file does not name a loopback address.", 'absent');
  return { kind, address };
}

/** Whatever is not quite an address could be looked up as a name, and lead elsewhere. */
function isOnLoopback(address: string): boolean {
  const [, host = '', port] = /^(.+):(\d{1,5})$/.exec(address) ?? [];
  const here = host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
  return here && Number(port) > 0 && Number(port) < 2 ** 16;
}

async function textOf(path: string): Promise<string> {
  const file = await open(path, WITHOUT_WAITING).catch((error: unknown) => {
    if (isExhausted(error)) throw new ProbeError(NO_DESCRIPTORS);
    return null;
  });
  try {
    if (file === null) throw new ProbeError("The probe's address file cannot be read.", 'absent');
    if (!(await file.stat()).isFile())
      throw new ProbeError("The probe's address file is no regular file.", 'absent');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_ADDRESS_BYTES), 0, MAX_ADDRESS_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file?.close();
  }
}
