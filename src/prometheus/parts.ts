/** Was the load of every k6 script of a run played to its end? */
import type { LoadSide } from './load-side.ts';

const RUN_ANEW = 'See what k6 said, and run it again under a new RUN.';

/** Why a run of k6 is not whole, in one sentence; null where it is, and for `mcp-retention load`. */
export function cutOf(load: LoadSide): string | null {
  if (!load.isCut) return null;
  const { scripts } = load;
  const idle = scripts.find(({ begun }) => begun === 0);
  if (scripts.length === 0 || idle !== undefined)
    return `The load of ${idle?.name ?? 'the k6 script'} was not begun, as far as its series tell: it was aborted before, or the script is of an older version. ${RUN_ANEW}`;
  const cut = scripts.find(({ begun, finished }) => finished !== begun);
  return `The load of ${cut?.name} was not played to its end: of ${cut?.begun} parts that it began it finished ${cut?.finished}. Wait while k6 still runs; else it was cut. ${RUN_ANEW}`;
}
