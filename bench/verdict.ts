/** What it takes to read and judge a long recording. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { z } from 'zod';
import { median } from '../src/verdict/statistics.ts';
import type { Benchmark, Outcome } from './support/benchmark.ts';
import { writeSynthetic } from './support/recording.ts';
import { withFolder } from './support/sessions.ts';

const SAMPLES = 200_000;
const SESSIONS = 10_000;
const ROUNDS = 3;

const JUDGE = fileURLToPath(new URL('support/judge.ts', import.meta.url));

const judged = z.object({
  readMs: z.number(),
  judgeMs: z.number(),
  peakBytes: z.number(),
  samples: z.number(),
  damage: z.literal(0),
});

const run = (): Promise<Outcome> =>
  withFolder(async (folder) => {
    const file = path.join(folder, 'recording.ndjson');
    await writeSynthetic(file, SAMPLES, SESSIONS);
    const rounds: z.infer<typeof judged>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { stdout } = await execa(process.execPath, ['--import', 'tsx', JUDGE, file]);
      rounds.push(judged.parse(JSON.parse(stdout)));
    }
    if (rounds.some(({ samples }) => samples < SAMPLES)) throw new Error('samples were lost');
    const readSeconds = median(rounds.map(({ readMs }) => readMs)) / 1000;
    const judgeSeconds = median(rounds.map(({ judgeMs }) => judgeMs)) / 1000;
    const peakMiB = median(rounds.map(({ peakBytes }) => peakBytes)) / 2 ** 20;
    const fileMiB = statSync(file).size / 2 ** 20;
    return {
      head: ['recording MiB', 'read s', 'judge s', 'peak memory MiB'],
      rows: [[fileMiB.toFixed(0), readSeconds.toFixed(2), judgeSeconds.toFixed(2), peakMiB.toFixed(0)]],
      notes: [
        `One arm of ${SAMPLES.toLocaleString('en')} samples and ${SESSIONS.toLocaleString('en')} sessions of four steps; medians of ${ROUNDS} rounds, each in a process of its own.`,
      ],
      figures: {
        samples: SAMPLES,
        sessions: SESSIONS,
        rounds: ROUNDS,
        fileMiB,
        readSeconds,
        judgeSeconds,
        peakMiB,
      },
    };
  });

export const judging: Benchmark = { name: 'verdict', title: 'Reading and judging a recording', run };
