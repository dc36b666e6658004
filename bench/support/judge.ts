/** Reads and judges the recording named on the command line; prints what that took, as JSON. */
import { readRecording } from '../../src/recording/reader.ts';
import { verdict } from '../../src/verdict/verdict.ts';

const [path = ''] = process.argv.slice(2);
const began = performance.now();
const recording = await readRecording(path);
const read = performance.now();
const report = verdict(recording);
const judged = performance.now();
console.log(
  JSON.stringify({
    readMs: read - began,
    judgeMs: judged - read,
    // getrusage(2) gives KiB.
    peakBytes: process.resourceUsage().maxRSS * 1024,
    samples: report.builds[0]?.cases[0]?.sessions?.samples ?? 0,
    damage: recording.damage.length,
  }),
);
