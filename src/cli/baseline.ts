/** A baseline's recording, kept from run to run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { carryOver, originOf, standingBuild } from '../recording/carry.ts';
import { readRecording } from '../recording/reader.ts';
import { RecordingWriter } from '../recording/writer.ts';
import { recordingPath } from '../run/side.ts';
import { UsageError } from '../targets/target.ts';
import { checkWritable, writeReport } from './places.ts';

/**
 * @returns the path that the baseline stands or will stand at
 * @throws UsageError where it is no path, or nothing can be written there
 */
export function checkBaseline(text: string): string {
  const place = recordingPath(text);
  if (place === null || place.build !== null)
    throw new UsageError(
      `--baseline update writes the baseline anew, and ${text} is no recording's path: name a file such as baseline.ndjson.`,
    );
  checkWritable('the baseline', place.path);
  return place.path;
}

/** Puts the candidate's part of a recording in the baseline's place, whole or not at all. */
export async function updateBaseline(recording: string, path: string): Promise<void> {
  const source = await readRecording(recording);
  const build = standingBuild(source);
  if (build === null || source.end?.reason !== 'complete' || source.damage.length > 0) {
    process.stderr.write(`the baseline ${path} stays as it is: the run did not come to its end\n`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'mcp-retention-'));
  try {
    const writer = new RecordingWriter(join(folder, 'baseline.ndjson'), {
      ...source.header,
      ...originOf(source),
    });
    carryOver(writer, source, { build, as: build.replace(/ \(candidate\)$/, ''), prefix: '' });
    writer.end('complete');
    writeReport(path, await readFile(writer.path, 'utf8'));
    process.stdout.write(`baseline   ${path} is now the candidate’s recording\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
