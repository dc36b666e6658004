/** A server that is killed and comes back in the middle of a load: its probe tells, and the ledger starts anew. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ProbeReader } from '../../src/observe/sessions.ts';
import { only, startLoad, stopLoads, type LoadUnderTest } from '../support/load.ts';

const SUSPECT = new URL('../fixtures/servers/suspect.ts', import.meta.url).pathname;
const TSX = import.meta.resolve('tsx');

afterEach(stopLoads);

async function spawnSuspect(probeDir: string, port: number): Promise<{ child: ChildProcess; url: string }> {
  const args = ['--import', TSX, SUSPECT, '--port', String(port)];
  const env = { ...process.env, MCP_RETENTION_PROBE_DIR: probeDir };
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, url: (JSON.parse(line) as { url: string }).url };
}

/** One count of the server's, and the widest that was expected while it was read; null where it gives none. */
async function compare(load: LoadUnderTest, url: string, reader: ProbeReader, dir: string) {
  const { result, min, max } = await load.expectedDuring(url, () => reader.read(dir));
  const [worker] = result.workers;
  return worker === undefined ? null : { count: worker.snapshot.managers[0]?.registered ?? NaN, min, max };
}

test('killed twice in mid-run: the expected count is that of the process that serves now', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'mcpr-restart-'));
  const reader = new ProbeReader();
  let { child, url } = await spawnSuspect(dir, 0);
  const port = Number(new URL(url).port);
  try {
    const load = startLoad([{ target: url, probeDir: dir }], {
      rate: 30,
      mix: { abandon: 5, delete: 3, reject: 1, 'keep-alive': 2, 'over-cap': 1 },
    });
    const inside = async (
      until: (at: { count: number; min: number; max: number }) => boolean,
    ): Promise<void> => {
      const deadline = performance.now() + 30_000;
      for (;;) {
        const at = await compare(load, url, reader, dir);
        if (at !== null) {
          assert.ok(at.min <= at.count && at.count <= at.max, `${at.count} in ${at.min}..${at.max}`);
          if (until(at)) return;
        }
        assert.ok(performance.now() < deadline, JSON.stringify(at));
        await delay(20);
      }
    };
    while ((await load.value('mcp_client_sessions_opened_total', {})) === 0) await delay(5);
    await inside(({ count }) => count > 30);
    for (let kills = 0; kills < 2; kills++) {
      child.kill('SIGKILL');
      await once(child, 'exit');
      ({ child, url } = await spawnSuspect(dir, port));
      // In the end nothing of the process that was killed is expected, and what the new one opened is known.
      await inside(({ count, min, max }) => count > 15 && min > 10 && max < count + 15);
    }
    load.stop();
    const { expected, failure } = await only(load.done);
    const at = await reader.read(dir);
    const left = at.workers[0]?.snapshot.managers[0]?.registered ?? NaN;
    assert.equal(left, 0);
    assert.equal(failure, null);
    assert.ok(expected.min <= left && left <= expected.max);
    assert.equal(expected.min, 0);
  } finally {
    stopLoads();
    child.kill('SIGKILL');
    await reader.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
