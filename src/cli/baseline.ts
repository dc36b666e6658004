/** A baseline's recording, kept from run to run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { carryOver, originOf, standingBuild } from '../recording/carry.ts';
import { readRecording, type Recording } from '../recording/reader.ts';
import { RecordingWriter } from '../recording/writer.ts';
import { plain } from '../report/plain.ts';
import type { Side } from '../run/compare.ts';
import { recordingPath } from '../run/side.ts';
import { UsageError } from '../targets/target.ts';
import { verdict } from '../verdict/verdict.ts';
import { checkWritable, writeWhole } from './places.ts';

/**
 * @param names of targets in the configuration, which go before a file of the same name
 * @returns the path that the baseline stands or will stand at
 * @throws UsageError where it is no path, or nothing can be written there
 */
export function checkBaseline(text: string, names: readonly string[]): string {
  const place = names.includes(text) ? null : recordingPath(text);
  if (place === null || place.build !== null)
    throw new UsageError(
      `--baseline update writes the baseline anew, and ${text} is no recording's path: name a file such as baseline.ndjson.`,
    );
  checkWritable('the baseline', place.path);
  return place.path;
}

/**
 * Puts the candidate's part of a recording in the baseline's place, whole or not at all. A baseline never loses what
 * it knows: it stays where the candidate was not measured on all that the baseline was.
 * @param before the side that stands there; null: there is none yet
 * @throws RecordingError where it cannot be written
 */
export async function updateBaseline(recording: string, path: string, before: Side | null): Promise<void> {
  const source = await readRecording(recording);
  const build = standingBuild(source);
  const cut = build === null || source.end?.reason !== 'complete' || source.damage.length > 0;
  const why = cut ? 'the run did not come to its end' : lostBy(source, build, before);
  if (cut || why !== null) {
    process.stderr.write(`the baseline ${path} ${before ? 'stays as it is' : 'is not written'}: ${why}\n`);
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
    writeWhole('the baseline', path, await readFile(writer.path));
    process.stdout.write(`baseline   ${path} is now the candidate’s recording\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the new baseline would not know, in half a sentence; null: nothing that matters. */
function lostBy(source: Recording, build: string, before: Side | null): string | null {
  const has = findingsOf(source, build);
  if (has.size === 0) return `nothing was measured on ${plain(build)}`;
  if (before?.kind !== 'recording') return null;
  const lost = [...findingsOf(before.recording, before.build)].filter((finding) => !has.has(finding));
  const [first] = lost;
  if (first === undefined) return null;
  const more = lost.length > 1 ? ` and ${lost.length - 1} more` : '';
  return `${first}${more} would be lost, which it was measured on and the candidate was not (remove the file to begin anew)`;
}

/** Claims that passed or failed, each with its case. */
const findingsOf = (recording: Recording, name: string): Set<string> =>
  new Set(
    verdict(recording)
      .builds.filter((build) => build.name === name)
      .flatMap((build) => build.cases)
      .flatMap(({ id, claims }) =>
        claims
          .filter((claim) => claim.promised && claim.status !== 'unmeasured')
          .map((claim) => (claim.id.startsWith(`${id}.`) ? claim.id : `${claim.id} (${id})`)),
      ),
  );
