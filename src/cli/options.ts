/** Options that several commands share, each read and checked once. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { CASES } from '../cases/index.ts';
import type { Case } from '../cases/case.ts';
import { LOG_LEVELS, type LogLevel } from '../log.ts';
import { FORMAT_NAMES, FORMATS } from '../report/formats.ts';
import { DEFAULT_SEED } from '../run/run-options.ts';
import { UsageError } from '../targets/target.ts';
import type { ReportPaths } from './places.ts';

export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < least || value > most)
      throw new InvalidArgumentError(`give a whole number from ${least} to ${most}.`);
    return value;
  };

function oneCase(text: string, before: readonly Case[] | undefined): readonly Case[] {
  const found = CASES.find((definition) => definition.id === text);
  if (!found) throw new InvalidArgumentError(`known cases: ${CASES.map((known) => known.id).join(', ')}.`);
  return [...(before ?? []).filter((known) => known !== found), found];
}

export function header(text: string, before: Record<string, string> | undefined): Record<string, string> {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(text);
  // The text itself may be a secret: it is not repeated.
  if (!match?.[1]) throw new UsageError('--header: write it as "Name: value".');
  return { ...before, [match[1]]: match[2] ?? '' };
}

export const repeated = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  text,
];

/** A variable that is not set makes an empty argument of it, which would be the working directory. */
export function folder(text: string): string {
  if (text === '') throw new InvalidArgumentError('it is empty: name a folder.');
  return text;
}

export const folders = (text: string, before: readonly string[] | undefined): readonly string[] =>
  repeated(folder(text), before);

/** What `check` and `demo` take. */
export interface MeasureOptions extends ReportPaths {
  readonly case?: readonly Case[];
  readonly sessions?: number;
  readonly concurrency?: number;
  readonly seed?: number;
  readonly out?: string;
  readonly probeDir?: string;
  readonly requireProbe?: true;
  readonly config?: string;
  /** `host:port`, or true for any port. */
  readonly live?: string | true;
  readonly logLevel: LogLevel;
}

/** What `check` takes besides: for targets that someone else runs. */
export interface TargetOptions {
  readonly allowHost?: readonly string[];
  readonly header?: Readonly<Record<string, string>>;
  readonly pid?: number;
}

export function withReportOptions(command: Command): Command {
  for (const format of FORMAT_NAMES)
    command.option(`--${format} <file>`, `write the report as ${FORMATS[format].says}`);
  return command;
}

export function withMeasureOptions(command: Command): Command {
  return withReportOptions(command)
    .option('--case <id>', 'play this case only (repeatable)', oneCase)
    .option(
      '--sessions <n>',
      "sessions of a case's main load, in place of its own number",
      wholeNumber(1, 1_000_000),
    )
    .option('--concurrency <n>', 'sessions at a time', wholeNumber(1, 1000))
    .option('--seed <n>', `seed of the session plans (default: ${DEFAULT_SEED})`, wholeNumber(0, 2 ** 31 - 1))
    .option('--out <dir>', 'folder for the recording, the reports and the servers’ logs')
    .option(
      '--probe-dir <dir>',
      'folder of the probes’ sockets (default: a private one for each arm)',
      folder,
    )
    .option('--require-probe', 'undecided (exit 3) where the registry cannot be counted')
    .option('--config <file>', 'configuration (default: mcp-retention.yaml, where it is there)')
    .option('--live [host:port]', 'serve the HTML report on loopback while the run goes on')
    .addOption(new Option('--log-level <level>', 'logs on stderr').choices(LOG_LEVELS).default('error'));
}

export function withTargetOptions(command: Command): Command {
  return command
    .option('--allow-host <host>', 'allow load to this host, which is not loopback (repeatable)', repeated)
    .option('--header <header>', 'send "Name: value" with every request (repeatable)', header)
    .option('--pid <n>', 'process id of a server given by URL, for its memory', wholeNumber(1, 2 ** 31 - 1));
}
