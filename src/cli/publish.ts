/** From a recording to what people get: the terminal's report, and files. */
import { dirname, join } from 'node:path';
import pc from 'picocolors';
import { readRecording } from '../recording/reader.ts';
import { RecordingError } from '../recording/writer.ts';
import { markdownReport } from '../report/markdown.ts';
import { terminalReport } from '../report/terminal.ts';
import { verdict } from '../verdict/verdict.ts';
import type { Report } from '../verdict/schema.ts';
import { checkReports, logsIn, writeReport, type ReportPaths } from './places.ts';

/** Width of the tables where no terminal tells its own. */
const FILE_COLUMNS = 120;

/** Judges the recording, writes the report beside it, prints it, and writes it where else it was asked for. */
export async function publish(recording: string, options: ReportPaths): Promise<Report> {
  const report = verdict(await readRecording(recording));
  const folder = dirname(recording);
  const beside = { json: join(folder, 'report.json'), markdown: join(folder, 'report.md') };
  const unwritten = failureOf(() => writeFiles(report, beside));
  print(report);
  process.stdout.write(
    [
      `\nrecording  ${recording}`,
      `report     ${unwritten === null ? `${beside.json}, ${beside.markdown}` : 'not written'}`,
      `logs       ${logsIn(folder)}`,
      `again      mcp-retention report ${recording}\n`,
    ].join('\n'),
  );
  writeFiles(report, options);
  if (unwritten !== null) throw unwritten;
  return report;
}

/** Judges the recording, prints the report and writes it where it was asked for. */
export async function printReport(recording: string, options: ReportPaths): Promise<Report> {
  checkReports(options, recording);
  const report = verdict(await readRecording(recording));
  print(report);
  writeFiles(report, options);
  return report;
}

function print(report: Report): void {
  // Not a terminal: isTTY is undefined, and no colour whatever the environment says of CI.
  const look = process.stdout.isTTY
    ? { color: pc.isColorSupported, columns: process.stdout.columns }
    : { color: false, columns: FILE_COLUMNS };
  process.stdout.write(terminalReport(report, look));
}

function writeFiles(report: Report, { json, markdown }: ReportPaths): void {
  if (json !== undefined) writeReport(json, JSON.stringify(report, null, 2) + '\n');
  if (markdown !== undefined) writeReport(markdown, markdownReport(report));
}

/** What is printed counts more than what cannot be written: it comes first. */
function failureOf(act: () => void): RecordingError | null {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof RecordingError) return error;
    throw error;
  }
}
