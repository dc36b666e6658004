/** Reads the registry's counts from the text that the exporter gives to Prometheus. Pure. */
import {
  probeSupported,
  serverStartTime,
  sessionExpirations,
  sessionIdleTimeout,
  sessionLimit,
  sessionRegistrations,
  sessionRemnants,
  sessionRemovals,
  sessionsRegistered,
  sessionsRegisteredAtStart,
} from '../../src/metrics/catalogue.ts';
import type { Metric } from '../../src/metrics/metric.ts';

/** What the probes of one target counted, summed over workers and managers. */
export interface Counted {
  readonly registered: number;
  readonly registrations: number;
  /** Sessions that ended by idle expiry, since the processes began. */
  readonly expirations: number;
  readonly remnants: number;
  /** Registered, less what was at the start, was registered and was removed since; 0 where counts can be trusted. */
  readonly identityDrift: number;
  /** null: none. */
  readonly idleTimeoutSeconds: number | null;
  readonly sessionLimit: number | null;
  /** Which processes were counted. */
  readonly workers: string;
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * @param target the `target` label to look at; null: there must be only one
 * @throws Error with one sentence where the page does not tell
 */
export function readPage(page: string, target: string | null): Counted {
  const all = page.split('\n').flatMap(sampleOf);
  const targets = [...new Set(all.filter(({ name }) => name === probeSupported.name).map(targetOf))];
  const named = target === null ? targets : targets.filter((one) => one === target);
  if (named.length > 1)
    throw new Error('METRICS shows more than one target: name the one under load in TARGET_NAME.');
  const [only] = named;
  if (only === undefined)
    throw new Error(
      'METRICS shows no session counts of the target: does its exporter reach the probe, and is TARGET_NAME the exporter’s name for it?',
    );
  return countedOf(all.filter((sample) => targetOf(sample) === only));
}

const targetOf = ({ labels }: Sample): string => labels['target'] ?? '';

function countedOf(samples: readonly Sample[]): Counted {
  const values = (metric: Metric): number[] =>
    samples.filter(({ name }) => name === metric.name).map(({ value }) => value);
  const sum = (metric: Metric): number => values(metric).reduce((total, value) => total + value, 0);
  if (values(probeSupported).some((value) => value !== 1))
    throw new Error('The probe does not know this SDK, so the registry cannot be counted.');
  const starts = samples.filter(({ name }) => name === serverStartTime.name);
  const managers = values(sessionsRegistered).length;
  // A bound counts where every manager has it.
  const bound = (metric: Metric): number | null =>
    managers > 0 && values(metric).length === managers ? Math.max(...values(metric)) : null;
  const expected = sum(sessionsRegisteredAtStart) + sum(sessionRegistrations) - sum(sessionRemovals);
  return {
    registered: sum(sessionsRegistered),
    registrations: sum(sessionRegistrations),
    expirations: sum(sessionExpirations),
    remnants: sum(sessionRemnants),
    identityDrift: sum(sessionsRegistered) - expected,
    idleTimeoutSeconds: bound(sessionIdleTimeout),
    sessionLimit: bound(sessionLimit),
    workers: starts
      .map(({ labels, value }) => `${labels['worker'] ?? ''}@${value}`)
      .sort()
      .join(),
  };
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

function sampleOf(line: string): Sample[] {
  const [, name, labels = '', value] = LINE.exec(line) ?? [];
  if (name === undefined || value === undefined) return [];
  const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text] as const);
  return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
}
