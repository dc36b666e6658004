/** Progress on stderr: a few live lines on a terminal, a plain line for each finished arm elsewhere. */
import { createLogUpdate } from 'log-update';
import pc from 'picocolors';
import { plainAll } from '../report/plain.ts';
import { mib, thousands } from '../report/words.ts';
import type { OnProgress, Progress } from '../run/events.ts';

interface Row {
  stage: string;
  registered: number | null;
  rssBytes: number | null;
  requests: number;
}

export interface ProgressView {
  readonly onProgress: OnProgress;
  /** Clears the live lines. */
  close(): void;
}

const REDRAW_MS = 100;

export function progressView(stream: NodeJS.WriteStream, arms: number): ProgressView {
  const view = stream.isTTY ? liveView(stream, arms) : plainView(stream, arms);
  // Names and reasons come from outside.
  return { ...view, onProgress: (progress) => view.onProgress(plainAll(progress)) };
}

function plainView(stream: NodeJS.WriteStream, arms: number): ProgressView {
  const startedAt = performance.now();
  let done = 0;
  const installing = new Set<string>();
  /** A reason that several arms share is said once. */
  const said = new Set<string>();
  return {
    onProgress: (progress) => {
      if (progress.kind === 'install' && !installing.has(progress.build)) {
        installing.add(progress.build);
        stream.write(`preparing ${progress.build}\n`);
      }
      if (progress.kind !== 'arm-end') return;
      done++;
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      const how =
        progress.failure === null
          ? 'done'
          : said.has(progress.failure)
            ? 'not measured'
            : `not measured: ${progress.failure}`;
      if (progress.failure !== null) said.add(progress.failure);
      stream.write(`[${done}/${arms} ${seconds} s] ${progress.case} on ${progress.build}: ${how}\n`);
    },
    close: () => undefined,
  };
}

function liveView(stream: NodeJS.WriteStream, arms: number): ProgressView {
  const startedAt = performance.now();
  const update = createLogUpdate(stream);
  const rows = new Map<string, Row>();
  const installs = new Map<string, string>();
  let done = 0;
  const draw = (): void => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    const lines = [pc.bold(`${done} of ${arms} arms measured, ${seconds} s`)];
    if (rows.size === 0) for (const [build, text] of installs) lines.push(`  ${build}  ${text}`);
    for (const [name, row] of rows) lines.push(line(name, row));
    update(lines.map((text) => text.slice(0, stream.columns || 80)).join('\n'));
  };
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  return {
    onProgress: (progress) => {
      if (progress.kind === 'install') installs.set(progress.build, progress.text);
      else if (progress.kind === 'arm-end') {
        done++;
        rows.delete(nameOf(progress));
      } else note(rows, progress);
    },
    close: () => {
      clearInterval(timer);
      update.clear();
    },
  };
}

const nameOf = (progress: { build: string; case: string }): string =>
  `${progress.case.padEnd(15)} ${progress.build}`;

function note(rows: Map<string, Row>, progress: Extract<Progress, { kind: 'stage' | 'sample' }>): void {
  const name = nameOf(progress);
  const row = rows.get(name) ?? { stage: '', registered: null, rssBytes: null, requests: 0 };
  rows.set(name, row);
  if (progress.kind === 'stage') row.stage = progress.stage;
  else
    Object.assign(row, {
      registered: progress.registered,
      rssBytes: progress.rssBytes,
      requests: progress.requests,
    });
}

function line(name: string, row: Row): string {
  const registered = row.registered === null ? '' : `${thousands(row.registered)} registered`;
  const memory = row.rssBytes === null ? '' : `${mib(row.rssBytes)} MiB`;
  const requests = row.requests === 0 ? '' : `${thousands(row.requests)} requests`;
  return `  ${name}  ${[row.stage, registered, memory, requests].filter(Boolean).join('  ')}`;
}
