/** The servers whose metrics are served. */
import { resolve } from 'node:path';
import { nameOfDirectory, type ExporterConfig } from '../src/config/exporter.ts';
import { ConfigError } from '../src/config/load.ts';

export interface ExporterTarget {
  /** The label `target`. */
  readonly name: string;
  readonly place:
    | { readonly kind: 'directory'; readonly path: string }
    | { readonly kind: 'address'; readonly address: string; readonly pid: number | null };
  /** The label `build`; null: what the probe says. */
  readonly build: string | null;
  /** Added to each of its series. */
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * @param directories probe directories from the command line; each is a target by its own name
 * @throws ConfigError where two have one name, or there is none
 */
export function exporterTargets(directories: readonly string[], config: ExporterConfig): ExporterTarget[] {
  const targets = new Map<string, ExporterTarget>();
  for (const directory of directories) {
    const path = resolve(directory);
    const name = nameOfDirectory(path);
    if (targets.has(name))
      throw new ConfigError(
        `two probe directories are called ${name}: name them under exporter.targets in mcp-retention.yaml.`,
      );
    targets.set(name, { name, place: { kind: 'directory', path }, build: null, labels: {} });
  }
  for (const [name, target] of Object.entries(config.targets)) {
    if (targets.has(name))
      throw new ConfigError(`the target ${name} is in the configuration already: leave out its --probe-dir.`);
    targets.set(name, { name, place: placeOf(target), build: target.build ?? null, labels: target.labels });
  }
  if (targets.size === 0)
    throw new ConfigError(
      'there is nothing to export: give --probe-dir DIR, or name targets under exporter: in mcp-retention.yaml.',
    );
  return [...targets.values()];
}

function placeOf(target: ExporterConfig['targets'][string]): ExporterTarget['place'] {
  return target.probeDir !== undefined
    ? { kind: 'directory', path: resolve(target.probeDir) }
    : { kind: 'address', address: target.probe ?? '', pid: target.pid ?? null };
}
