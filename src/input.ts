/**
 * Reads what a user names: a file, a pipe such as `<(…)`, a terminal. A pipe may have no writer yet, and may never
 * get one: Node.js' own functions then block a thread, which keeps the process from ending. These only wait.
 */
import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';

const CHUNK_BYTES = 2 ** 20;
/** Far more than anybody writes by hand. */
const MOST_BYTES = 16 * 2 ** 20;
const WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The bytes of what stands at a path, in chunks of at most 1 MiB.
 * @param signal ends it: the stream then fails
 * @throws what the system says, at once or from the stream
 */
export function inputOf(path: string, signal?: AbortSignal): Readable {
  const fd = openSync(path, WITHOUT_WAITING);
  try {
    const stream = streamOf(fd, path);
    return signal === undefined ? stream : addAbortSignal(signal, stream);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function streamOf(fd: number, path: string): Readable {
  if (isatty(fd)) return new ReadStream(fd);
  return fstatSync(fd).isFIFO()
    ? new Socket({ fd, readable: true, writable: false })
    : createReadStream(path, { fd, highWaterMark: CHUNK_BYTES });
}

/**
 * All of it, of what is written by hand.
 * @throws the signal's reason, or what the system says, or that it is too large
 */
export async function bytesOf(path: string, signal?: AbortSignal): Promise<Buffer> {
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of inputOf(path, signal) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES / 2 ** 20} MiB`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
