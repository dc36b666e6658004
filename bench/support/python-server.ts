/** The built-in Python server, started as a run starts it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageTarget } from '../../src/config/schema.ts';
import { PROBE_SWITCH_VARIABLE } from '../../src/observe/snapshot.ts';
import { pythonBuild } from '../../src/targets/python.ts';
import type { PreparedBuild } from '../../src/targets/target.ts';

const PACKAGE = 'python:mcp@1.30.0';

export interface PythonServer {
  readonly url: string;
  readonly pid: number;
  readonly probeDir: string;
  stop(): Promise<void>;
}

export const preparePython = (): Promise<PreparedBuild> =>
  pythonBuild(PACKAGE, packageTarget.parse({ package: PACKAGE })).prepare(
    new AbortController().signal,
    () => undefined,
  );

/** @param folder where the log goes and the probe's socket, in a directory by this name. */
export async function startPython(
  build: PreparedBuild,
  folder: string,
  name: string,
  probe: 'on' | 'off',
): Promise<PythonServer> {
  const probeDir = join(folder, name);
  mkdirSync(probeDir, { mode: 0o700 });
  return withProbe(probe, async () => {
    const running = await build.start({
      settings: {},
      probeDir,
      logFile: join(folder, `${name}.log`),
      signal: new AbortController().signal,
    });
    if (running.pid === null) throw new Error('the server gave no process id');
    return { url: running.url, pid: running.pid, probeDir, stop: () => running.stop() };
  });
}

/** A server inherits this process's environment when it is started, and only then. */
async function withProbe<T>(probe: 'on' | 'off', start: () => Promise<T>): Promise<T> {
  const { [PROBE_SWITCH_VARIABLE]: before, ...rest } = process.env;
  process.env = probe === 'off' ? { ...rest, [PROBE_SWITCH_VARIABLE]: 'off' } : rest;
  try {
    return await start();
  } finally {
    process.env = before === undefined ? rest : { ...rest, [PROBE_SWITCH_VARIABLE]: before };
  }
}
