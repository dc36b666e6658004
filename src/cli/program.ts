/** The command line: names, options, and what each command runs. */
import { Command } from 'commander';
import { TOOL } from '../version.ts';
import { compareCommand } from './compare.ts';
import { configCheck, configInit } from './config.ts';
import { dashboardsCommand } from './dashboards.ts';
import { DEFAULT_CONFIG_FILE } from '../config/load.ts';
import { exitCodeOf, type ExitCode } from './exit.ts';
import { exporterCommand } from './exporter.ts';
import {
  checkFromPrometheus,
  neededTarget,
  withPrometheusOptions,
  type CheckOptions,
} from './from-prometheus.ts';
import { listCases, listTargets, pythonProbe } from './lists.ts';
import { loadCommand } from './load.ts';
import { check, demo } from './measure.ts';
import { withMeasureOptions, withReportOptions, withTargetOptions, type MeasureOptions } from './options.ts';
import type { ReportPaths } from './places.ts';
import { printReport } from './publish.ts';
import { sweepCommand } from './sweep.ts';

/** @param done receives the exit code of the command that ran */
export function program(signal: AbortSignal, done: (code: ExitCode) => void): Command {
  const root = new Command(TOOL.name)
    .description(
      'Does an MCP server let go of the sessions that it should let go of, and keep the ones it should keep?',
    )
    .version(TOOL.version)
    .exitOverride()
    .showHelpAfterError('(--help shows the options)')
    .addHelpText(
      'after',
      '\nExit codes: 0 every promised claim passed, 1 a claim failed, 2 the command or configuration is wrong, 3 undecided.',
    );
  measuring(root, signal, done);
  compareCommand(root, signal, done);
  sweepCommand(root, signal, done);
  exporterCommand(root, signal, done);
  loadCommand(root, signal, done);
  dashboardsCommand(root, done);
  informing(root, signal, done);
  refuseUnknown(root);
  return root;
}

/** Asked for help on a command that there is not, commander would show the help of all. */
function refuseUnknown(group: Command): void {
  const subcommands = group.commands;
  if (subcommands.length === 0) return;
  subcommands.forEach(refuseUnknown);
  group.on('beforeHelp', () => {
    const [first, second] = group.args;
    const asked = first === 'help' ? second : first;
    if (asked === undefined || asked.startsWith('-')) return;
    if (asked !== 'help' && subcommands.every((command) => command.name() !== asked))
      group.error(`error: unknown command '${asked}'`, { code: 'commander.unknownCommand', exitCode: 1 });
  });
}

function measuring(root: Command, signal: AbortSignal, done: (code: ExitCode) => void): void {
  withMeasureOptions(
    root.command('demo').description('affected and patched builds of the Python SDK side by side'),
  ).action(async (options: MeasureOptions) => done(await demo(options, signal)));
  withPrometheusOptions(
    withTargetOptions(
      withMeasureOptions(root.command('check').description('one build: its claims, exit 0 or 1')),
    ),
  )
    .argument(
      '[target]',
      'python:mcp@VERSION, an http(s) URL, or a name from mcp-retention.yaml; none with --from-prometheus',
    )
    .action(async (target: string | undefined, options: CheckOptions) =>
      done(
        options.fromPrometheus === undefined
          ? await check(neededTarget(target, options), options, signal)
          : await checkFromPrometheus(target, options, signal),
      ),
    );
  withReportOptions(root.command('report').description('the verdict again, from a recording'))
    .argument('<recording>', 'recording.ndjson of an earlier run')
    .action(async (recording: string, options: ReportPaths) =>
      done(exitCodeOf(await printReport(recording, options, signal))),
    );
}

function informing(root: Command, signal: AbortSignal, done: (code: ExitCode) => void): void {
  const say = (text: string): void => {
    process.stdout.write(text + '\n');
    done(0);
  };
  root
    .command('cases')
    .description('what each case plays and claims')
    .action(() => say(listCases()));
  root
    .command('targets')
    .description('what can be measured')
    .option('--config <file>', 'configuration')
    .action(async (options: { config?: string }) => say(await listTargets(options.config, signal)));
  const probe = root.command('probe').description('how to attach a probe to your own server');
  probe
    .command('python')
    .description('for servers on the Python SDK or FastMCP')
    .option('--path', "print the probe's folder alone")
    .action((options: { path?: true }) => say(pythonProbe(options.path === true)));
  const config = root.command('config').description('the configuration file');
  config
    .command('init')
    .description('write a commented configuration')
    .argument('[file]', 'where to', DEFAULT_CONFIG_FILE)
    .action((file: string) => say(configInit(file)));
  config
    .command('check')
    .description('validate the configuration')
    .argument('[file]', `default: ${DEFAULT_CONFIG_FILE}`)
    .action(async (file: string | undefined) => say(await configCheck(file ?? DEFAULT_CONFIG_FILE, signal)));
}
