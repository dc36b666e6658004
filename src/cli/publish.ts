/** From a recording to what people get: the terminal's report, and files. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pc from 'picocolors';
import { readRecording } from '../recording/reader.ts';
import { RecordingError } from '../recording/writer.ts';
import { markdownReport } from '../report/markdown.ts';
import { terminalReport } from '../report/terminal.ts';
import { verdict } from '../verdict/verdict.ts';
import type { Report } from '../verdict/schema.ts';

export interface PublishOptions {
  readonly json?: string;
  readonly markdown?: string;
}

/** Width of the tables where no terminal tells its own. */
const FILE_COLUMNS = 120;

/** Judges the recording, prints the report, and writes it beside the recording and where else it was asked for. */
export async function publish(recording: string, options: PublishOptions): Promise<Report> {
  const report = await printReport(recording, options);
  const folder = dirname(recording);
  const beside = { json: join(folder, 'report.json'), markdown: join(folder, 'report.md') };
  writeFiles(report, beside);
  process.stdout.write(
    [
      `\nrecording  ${recording}`,
      `report     ${beside.json}, ${beside.markdown}`,
      `logs       ${join(folder, 'logs')}`,
      `again      mcp-retention report ${recording}\n`,
    ].join('\n'),
  );
  return report;
}

/** Judges the recording, prints the report and writes it where it was asked for. */
export async function printReport(recording: string, options: PublishOptions): Promise<Report> {
  const report = verdict(await readRecording(recording));
  // Not a terminal: isTTY is undefined, and no colour whatever the environment says of CI.
  const look = process.stdout.isTTY
    ? { color: pc.isColorSupported, columns: process.stdout.columns }
    : { color: false, columns: FILE_COLUMNS };
  process.stdout.write(terminalReport(report, look));
  writeFiles(report, options);
  return report;
}

function writeFiles(report: Report, { json, markdown }: PublishOptions): void {
  if (json !== undefined) write(json, JSON.stringify(report, null, 2) + '\n');
  if (markdown !== undefined) write(markdown, markdownReport(report));
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new RecordingError(`cannot write the report ${path}: ${(error as Error).message}`);
  }
}
