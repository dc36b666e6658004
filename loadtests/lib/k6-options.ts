/** What the options of every script have in common. */
import type { Options } from 'k6/options';
import type { Script } from './around.ts';
import { tagWith } from './ledger.ts';

const SETUP_TIMEOUT = '5m';

/** No URL among the tags: a series for each would be one too many. */
const SYSTEM_TAGS: string[] = ['check', 'error_code', 'method', 'name', 'scenario', 'status'];

export function commonOptions({ id, options }: Script, thresholds: Record<string, string[]>) {
  const { run, build, targetName } = options;
  const tags = { run, build, target: targetName, case: id };
  tagWith(tags);
  return {
    tags,
    systemTags: SYSTEM_TAGS,
    setupTimeout: SETUP_TIMEOUT,
    teardownTimeout: SETUP_TIMEOUT,
    thresholds,
  } satisfies Options;
}
