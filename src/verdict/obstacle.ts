/** Why nothing can be decided from speed, in one sentence, or null. */
import type { BlockRecord, ComparisonRecord } from '../recording/schema.ts';
import { median } from './statistics.ts';

/** A load side that is busy for this share of the time is the bottleneck, whatever the server could do. */
const BUSY = 0.85;
/** A larger share of failed calls is not the work that was to be compared. */
const MOST_FAILED = 0.01;

interface Facts {
  readonly blocks: readonly BlockRecord[];
  /** Blocks that both builds went through. */
  readonly pairs: number;
  readonly baseline: string;
  readonly candidate: string;
  readonly origins: ComparisonRecord['origins'];
}

export function obstacleOf({ blocks, pairs, baseline, candidate, origins }: Facts): string | null {
  if (origins.baseline !== null || origins.candidate !== null)
    return 'The two builds were measured on different occasions, so nothing is decided from speed.';
  const sides = [baseline, candidate].map((name) => ({
    name,
    blocks: blocks.filter((one) => one.build === name),
  }));
  for (const { name, blocks: own } of sides) {
    const reasons = own.flatMap((one) => (one.reason === undefined ? [] : [one.reason]));
    const [reason] = reasons;
    if (reason !== undefined && (pairs === 0 || reasons.length > 1))
      return `${name} could not be measured in ${blocksText(reasons.length)}: ${sentence(reason)}`;
  }
  if (pairs === 0) return 'No block of both builds was measured, so nothing is decided from speed.';
  for (const { name, blocks: own } of sides) {
    const found = failing(name, own) ?? busy(name, own);
    if (found !== null) return found;
  }
  return null;
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const blocksText = (count: number): string => (count === 1 ? '1 block' : `${count} blocks`);

function failing(name: string, blocks: readonly BlockRecord[]): string | null {
  const slices = blocks.flatMap((one) => one.slices);
  const failed = slices.reduce((sum, one) => sum + one.failed, 0);
  const calls = slices.reduce((sum, one) => sum + one.calls, 0);
  if (failed <= MOST_FAILED * calls) return null;
  return `${failed} of ${calls} calls to ${name} failed, so nothing is decided from speed.`;
}

function busy(name: string, blocks: readonly BlockRecord[]): string | null {
  const share = median(blocks.flatMap((one) => one.slices).map((one) => one.loadCpu));
  if (!(share >= BUSY)) return null;
  return `The load side was the bottleneck (busy for ${Math.round(share * 100)} % of the time against ${name}), so nothing is decided from speed.`;
}
