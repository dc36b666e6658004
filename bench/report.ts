/** What a long recording takes from the command line, against the goals: `mcp-retention report` with every format. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { FORMAT_NAMES, FORMATS } from '../src/report/formats.ts';
import { COMMAND } from '../test/support/cli.ts';
import type { Benchmark, Outcome } from './support/benchmark.ts';
import { writeSynthetic } from './support/recording.ts';
import { withFolder } from './support/sessions.ts';

const GOAL = { seconds: 10, megabytes: 500 };
const MILLION = 1_000_000;
/** Four steps a session. */
const RECORDINGS = [
  { name: 'samples', samples: MILLION, sessions: 1000 },
  { name: 'steps', samples: 10_000, sessions: MILLION / 4 },
] as const;

interface Taken {
  readonly seconds: number;
  /** Processor time: what is left of the seconds is waiting, for the disk or for other work of the machine. */
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

const report = z.object({
  complete: z.literal(true),
  builds: z.tuple([
    z.object({ cases: z.tuple([z.object({ sessions: z.object({ samples: z.number() }) })]) }),
  ]),
});

/** @throws Error where the recording was not judged whole */
async function reported(folder: string, recording: string, samples: number): Promise<Taken> {
  const formats = FORMAT_NAMES.flatMap((format) => [`--${format}`, join(folder, FORMATS[format].file)]);
  const [program = '', ...args] = COMMAND;
  const began = performance.now();
  const child = spawn(program, [...args, 'report', recording, ...formats], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  let used = { cpuSeconds: 0, megabytes: 0 };
  for (let running = true; running;) {
    used = usedBy(child.pid) ?? used;
    running = await Promise.race([ended.then(() => false), delay(10, true)]);
  }
  const seconds = (performance.now() - began) / 1000;
  const { builds } = report.parse(JSON.parse(readFileSync(join(folder, FORMATS.json.file), 'utf8')));
  if (builds[0].cases[0].sessions.samples < samples) throw new Error('samples were lost');
  return { seconds, ...used };
}

/** Processor time and the most resident memory so far (proc_pid_stat(5), VmHWM of proc_pid_status(5)). */
function usedBy(pid: number | undefined): Omit<Taken, 'seconds'> | null {
  try {
    const status = readFileSync(`/proc/${pid ?? 0}/status`, 'utf8');
    const kib = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
    if (kib === undefined) return null;
    // The name, in parentheses, may hold spaces; utime and stime are the 14th and 15th field.
    const fields =
      readFileSync(`/proc/${pid ?? 0}/stat`, 'utf8')
        .split(') ')
        .at(-1)
        ?.split(' ') ?? [];
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { cpuSeconds: ticks / TICKS_PER_SECOND, megabytes: (Number(kib) * 1024) / 1e6 };
  } catch {
    return null;
  }
}

/** USER_HZ of every Linux that Node.js runs on. */
const TICKS_PER_SECOND = 100;

const run = (): Promise<Outcome> =>
  withFolder(async (folder) => {
    const rows: string[][] = [];
    const figures: Record<string, Taken & { fileMegabytes: number }> = {};
    for (const { name, samples, sessions } of RECORDINGS) {
      const recording = join(folder, `${name}.ndjson`);
      await writeSynthetic(recording, samples, sessions);
      const fileMegabytes = statSync(recording).size / 1e6;
      const taken = await reported(folder, recording, samples);
      const within = taken.seconds <= GOAL.seconds && taken.megabytes <= GOAL.megabytes;
      rows.push([
        `${samples.toLocaleString('en')} samples, ${(4 * sessions).toLocaleString('en')} steps`,
        fileMegabytes.toFixed(0),
        taken.seconds.toFixed(1),
        taken.cpuSeconds.toFixed(1),
        taken.megabytes.toFixed(0),
        name === 'samples' ? (within ? 'met' : 'missed') : 'none set',
      ]);
      figures[name] = { ...taken, fileMegabytes };
    }
    return {
      head: ['recording', 'MB', 'seconds', 'of CPU', 'peak memory MB', 'goal'],
      rows,
      notes: [
        `From the start of the command to its end, with ${FORMAT_NAMES.join(', ')}; the goal for a million samples is ${GOAL.seconds} s and ${GOAL.megabytes} MB.`,
      ],
      figures: { goal: GOAL, ...figures },
    };
  });

export const reporting: Benchmark = { name: 'report', title: 'Reporting a recording of a million', run };
