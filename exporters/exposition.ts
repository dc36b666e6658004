/** The two formats that Prometheus reads, and which of them a scraper wants. */
import { Counter, Registry, type OpenMetricsContentType } from 'prom-client';

/** Text format 0.0.4. */
export const PROMETHEUS_TEXT = Registry.PROMETHEUS_CONTENT_TYPE;
/** OpenMetrics 1.0.0. */
export const OPENMETRICS_TEXT = Registry.OPENMETRICS_CONTENT_TYPE;

export type Format = typeof PROMETHEUS_TEXT | typeof OPENMETRICS_TEXT;

/** An answer to a scrape. */
export interface Exposition {
  readonly contentType: string;
  readonly body: string;
}

/**
 * OpenMetrics where the Accept header prefers it to plain text, and plain text otherwise. Where both are wanted
 * alike, OpenMetrics has to be named for it.
 */
export function negotiate(accept: string): Format {
  const ranges = accept.split(',').map(parseRange);
  const weight = (...types: string[]): number => {
    for (const type of types) {
      const found = ranges.filter((range) => range.type === type && speaksOurVersion(range));
      if (found.length > 0) return Math.max(...found.map(({ quality }) => quality));
    }
    return 0;
  };
  const openMetrics = weight('application/openmetrics-text');
  return openMetrics > 0 && openMetrics >= weight('text/plain', 'text/*', '*/*')
    ? OPENMETRICS_TEXT
    : PROMETHEUS_TEXT;
}

interface MediaRange {
  readonly type: string;
  readonly version: string | undefined;
  readonly quality: number;
}

function parseRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const value = (name: string): string | undefined =>
    parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
  const quality = Number(value('q') ?? 1);
  return { type, version: value('version'), quality: quality >= 0 && quality <= 1 ? quality : 0 };
}

const speaksOurVersion = ({ type, version }: MediaRange): boolean =>
  type !== 'application/openmetrics-text' || version === undefined || version === '1.0.0';

/**
 * Renders a registry in the format that the Accept header prefers, leaving the registry as it is: asked for
 * OpenMetrics, prom-client takes the ending off its counters' names for good.
 */
export async function renderRegistry(registry: Registry, accept: string): Promise<Exposition> {
  const contentType = negotiate(accept);
  if (contentType === PROMETHEUS_TEXT) return { contentType, body: await registry.metrics() };
  const copy = new Registry<OpenMetricsContentType>();
  copy.setContentType(OPENMETRICS_TEXT);
  for (const metric of registry.getMetricsAsArray())
    // A copy inherits values and methods; only the name, once written, is its own.
    copy.registerMetric((isCounter(metric) ? Object.create(metric) : metric) as never);
  return { contentType, body: await copy.metrics() };
}

/** prom-client's types say that these are plain data; they are the metrics themselves. */
const isCounter = (metric: object): boolean => metric instanceof Counter;
