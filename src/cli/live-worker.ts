/**
 * Judges a recording that still grows, in a process of its own: the load side must not wait for it. It ends with
 * the process that asks.
 */
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readRecording, type Recording } from '../recording/reader.ts';
import type { Judged } from '../report/formats.ts';
import { liveData, livePage } from '../report/html/report.ts';
import { seriesOnce } from '../verdict/series.ts';
import { verdict } from '../verdict/verdict.ts';
import type { LiveAnswer, LiveQuestion } from './live-judge.ts';

const LEAST_AGE_MS = 1000;
/** Of this process's time at most a tenth is spent on judging, however large the recording is. */
const REST_PER_WORK = 9;
/** The recording is made as soon as the run begins. */
const FIRST_TRIES = 100;
const TRY_EVERY_MS = 100;

let kept: { readonly judged: Judged; readonly until: number } | null = null;

async function judge({ path, running }: LiveQuestion): Promise<Judged> {
  if (running && kept !== null && performance.now() < kept.until) return kept.judged;
  const began = performance.now();
  const recording = await begun(path);
  const judged = { report: verdict(running ? soFar(recording) : recording), series: seriesOnce(recording) };
  const now = performance.now();
  kept = { judged, until: now + Math.max(LEAST_AGE_MS, (now - began) * REST_PER_WORK) };
  return judged;
}

async function begun(path: string): Promise<Recording> {
  const isThere = (): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
  for (let tries = 0; !isThere() && tries < FIRST_TRIES; tries++) await sleep(TRY_EVERY_MS);
  return readRecording(path);
}

/**
 * What can be judged while the run goes on: arms that are over; in a comparison, of cases that are over on both
 * sides. The last line may be half written.
 */
function soFar(recording: Recording): Recording {
  const over = recording.arms.filter((events) => events.end !== null);
  const sides = (id: string): number => over.filter(({ arm }) => arm.case === id).length;
  return {
    ...recording,
    arms: recording.comparison === null ? over : over.filter(({ arm }) => sides(arm.case) > 1),
    damage: [],
    end: recording.end ?? { type: 'end', t: 0, reason: 'interrupted' },
  };
}

async function answer(question: LiveQuestion): Promise<LiveAnswer> {
  const { number, what, running } = question;
  try {
    const judged = await judge(question);
    const text = what === 'page' ? livePage(judged) : JSON.stringify(liveData(judged, running));
    return { number, text };
  } catch (error) {
    return { number, failure: (error as Error).message };
  }
}

/** One question after the other, so that several pages share what is judged. */
let last = Promise.resolve();
process.on('message', (question: LiveQuestion) => {
  last = last.then(async () => void process.send?.(await answer(question)));
});
