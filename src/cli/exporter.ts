/** exporter: the metrics of running servers, for Prometheus. */
import { Option, type Command } from 'commander';
import { DEFAULT_LISTEN, runExporter } from '../../exporters/exporter.ts';
import { exporterTargets } from '../../exporters/targets.ts';
import { loadWebConfig, OPEN_WEB } from '../../exporters/web-config.ts';
import { loadConfig } from '../config/load.ts';
import { createLogger, LOG_LEVELS, type LogLevel } from '../log.ts';
import { folders } from './options.ts';

interface Options {
  readonly probeDir?: readonly string[];
  readonly config?: string;
  readonly listen?: string;
  readonly webConfig?: string;
  readonly logLevel: LogLevel;
}

export function exporterCommand(root: Command, signal: AbortSignal, done: (code: 0) => void): void {
  root
    .command('exporter')
    .description('/metrics of running servers, for Prometheus')
    .option(
      '--probe-dir <dir>',
      'probes’ sockets of a server; its name is the label target (repeatable)',
      folders,
    )
    .option('--config <file>', 'configuration (default: mcp-retention.yaml, where it is there)')
    .option('--listen <host:port>', `where to serve (default: ${DEFAULT_LISTEN}; port 0 picks one)`)
    .option('--web-config <file>', 'TLS and users, as Prometheus’ own exporters have it')
    .addOption(new Option('--log-level <level>', 'logs on stderr').choices(LOG_LEVELS).default('info'))
    .action(async (options: Options) => {
      const { exporter } = await loadConfig(options.config, signal);
      await runExporter({
        targets: exporterTargets(options.probeDir ?? [], exporter),
        listen: options.listen ?? exporter.listen ?? DEFAULT_LISTEN,
        web: options.webConfig === undefined ? OPEN_WEB : await loadWebConfig(options.webConfig, signal),
        log: createLogger(options.logLevel),
        signal,
        onListening: (url) => process.stdout.write(`serving ${url}metrics\n`),
      });
      done(0);
    });
}
