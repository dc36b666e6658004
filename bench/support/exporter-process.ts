/** The exporter as its users run it, scraped over one kept connection. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { parseResidentBytes } from '../../src/observe/procfs.ts';

const MAIN = new URL('../../src/cli/main.ts', import.meta.url).pathname;
const TSX = import.meta.resolve('tsx');

export interface ExporterProcess {
  scrape(): Promise<string>;
  rssBytes(): number;
  stop(): Promise<void>;
}

export async function startExporter(probeDir: string): Promise<ExporterProcess> {
  const args = ['exporter', '--probe-dir', probeDir, '--listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, ['--import', TSX, MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const url = line.replace('serving ', '');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    scrape: () => get(url, agent),
    rssBytes: () => parseResidentBytes(readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8')) ?? NaN,
    stop: async () => {
      agent.destroy();
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function get(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.once('end', () => resolve(text));
    });
    asked.once('error', reject);
    asked.end();
  });
}
