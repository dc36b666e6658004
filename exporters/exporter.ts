/** The exporter: serves the metrics of its targets until it is told to end. */
import type { Logger } from '../src/log.ts';
import { Scraper } from './scraper.ts';
import { serveMetrics } from './server.ts';
import type { ExporterTarget } from './targets.ts';
import type { WebConfig } from './web-config.ts';

/** Outside of 9100–9999, which Prometheus' list of exporters' ports has given away entirely. */
export const DEFAULT_LISTEN = '127.0.0.1:19640';

export interface ExporterOptions {
  readonly targets: readonly ExporterTarget[];
  /** `host:port`; port 0 lets the system choose. */
  readonly listen: string;
  readonly web: WebConfig;
  readonly log: Logger;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Hears the URL once it serves. */
  readonly onListening: (url: string) => void;
}

/** Resolves when the signal has ended it. @throws ConfigError where it cannot listen */
export async function runExporter(options: ExporterOptions): Promise<void> {
  const { targets, listen, web, log, signal, onListening } = options;
  const scraper = new Scraper(targets, log);
  const server = await serveMetrics({
    listen,
    web,
    signal,
    title: 'mcp-retention exporter',
    render: (accept, deadlineMs) => scraper.scrape(accept, deadlineMs),
    onError: (error) => log.error({ err: error }, 'a scrape failed'),
  });
  onListening(server.url);
  await server.closed;
  await scraper.close();
}
