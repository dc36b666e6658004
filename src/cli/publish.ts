/** From a recording to what people get: the terminal's report, and files. */
import { dirname, join } from 'node:path';
import pc from 'picocolors';
import { readRecording } from '../recording/reader.ts';
import { RecordingError } from '../recording/writer.ts';
import { FORMAT_NAMES, FORMATS, type Format, type Judged } from '../report/formats.ts';
import { terminalReport } from '../report/terminal.ts';
import { seriesOnce } from '../verdict/series.ts';
import { verdict } from '../verdict/verdict.ts';
import type { Report } from '../verdict/schema.ts';
import { checkReports, logsIn, writeWhole, type ReportPaths } from './places.ts';

/** Width of the tables where no terminal tells its own. */
const FILE_COLUMNS = 120;

/** Judges the recording, writes the report beside it, prints it, and writes it where else it was asked for. */
export async function publish(recording: string, options: ReportPaths): Promise<Report> {
  const judged = await judge(recording);
  const folder = dirname(recording);
  const beside = Object.fromEntries(
    FORMAT_NAMES.map((format) => [format, join(folder, FORMATS[format].file)]),
  ) as ReportPaths;
  const render = renderer(judged);
  const unwritten = failureOf(() => writeFiles(render, beside));
  print(judged.report);
  process.stdout.write(
    [
      `\nrecording  ${recording}`,
      `report     ${unwritten === null ? Object.values(beside).join(', ') : 'not written'}`,
      `logs       ${logsIn(folder)}`,
      `again      mcp-retention report ${recording}\n`,
    ].join('\n'),
  );
  writeFiles(render, options);
  if (unwritten !== null) throw unwritten;
  return judged.report;
}

/** Judges the recording, prints the report and writes it where it was asked for. */
export async function printReport(
  recording: string,
  options: ReportPaths,
  signal: AbortSignal,
): Promise<Report> {
  checkReports(options, recording);
  const judged = await judge(recording, signal);
  present(judged, options);
  return judged.report;
}

/** Prints a report and writes it where it was asked for. */
export function present(judged: Judged, paths: ReportPaths): void {
  print(judged.report);
  writeFiles(renderer(judged), paths);
}

async function judge(path: string, signal?: AbortSignal): Promise<Judged> {
  const recording = await readRecording(path, signal);
  return { report: verdict(recording), series: seriesOnce(recording) };
}

function print(report: Report): void {
  // Not a terminal: isTTY is undefined, and no colour whatever the environment says of CI.
  const look = process.stdout.isTTY
    ? { color: pc.isColorSupported, columns: process.stdout.columns }
    : { color: false, columns: FILE_COLUMNS };
  process.stdout.write(terminalReport(report, look));
}

/** Each format once, however many files it is written to. */
function renderer(judged: Judged): (format: Format) => string {
  const texts = new Map<Format, string>();
  return (format) => {
    const text = texts.get(format) ?? FORMATS[format].render(judged);
    texts.set(format, text);
    return text;
  };
}

function writeFiles(render: (format: Format) => string, paths: ReportPaths): void {
  for (const format of FORMAT_NAMES) {
    const path = paths[format];
    if (path !== undefined) writeWhole('the report', path, render(format));
  }
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
