/** The Python probe in a process of its own, with as many registered sessions as are asked for. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PROBE_DIR_VARIABLE } from '../../src/observe/snapshot.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export interface ManySessions {
  /** Registers more, up to this many. */
  grow(sessions: number): Promise<void>;
  stop(): Promise<void>;
}

export function startManySessions(probeDir: string): ManySessions {
  const modules = ['../../probes/python', '../../probes/python/tests/fixtures/sdk'].map(here);
  const child = spawn('python3', [here('many_sessions.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONPATH: modules.join(delimiter), [PROBE_DIR_VARIABLE]: probeDir },
  });
  const lines = createInterface(child.stdout);
  return {
    grow: async (sessions) => {
      const grown = once(lines, 'line');
      child.stdin.write(`${sessions}\n`);
      await grown;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}
