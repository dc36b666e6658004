/** The configuration's `allow`: each entry must be a claim that there is. */
import { CASES } from '../cases/index.ts';
import { ConfigError, DEFAULT_CONFIG_FILE } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { RETENTION_CLAIM } from '../prometheus/claims.ts';

/** @throws ConfigError that names the entry and the claims that come near it. */
export function checkAllowances(config: Config, file: string = DEFAULT_CONFIG_FILE): void {
  const known = new Set([...CASES.flatMap((definition) => definition.claims), RETENTION_CLAIM]);
  for (const claim of Object.keys(config.allow)) {
    if (known.has(claim)) continue;
    const of = claim.split('.')[0] ?? '';
    const near = [...known].filter((id) => id.startsWith(`${of}.`));
    throw new ConfigError(
      `${file}: allow.${claim} is no claim: ${near.length > 0 ? `${of} claims ${near.join(', ')}` : '"mcp-retention cases" lists them'}.`,
    );
  }
}
