/** Collector of what the exporter says of itself: which collectors read their target, and how long they took. */
import { collectorDuration, collectorSuccess } from '../src/metrics/catalogue.ts';
import type { Timed } from './collected.ts';
import type { Sheet } from './sheet.ts';

/** A target without a single worker was not read: silence is not health. */
export const succeeded = ({ readings, failures }: Timed<unknown>): boolean =>
  readings.length > 0 && failures.length === 0;

export function renderSelf(
  sheet: Sheet,
  target: string,
  extra: Readonly<Record<string, string>>,
  collectors: Readonly<Record<string, Timed<unknown>>>,
): void {
  for (const [collector, timed] of Object.entries(collectors)) {
    sheet.add(collectorSuccess, { target, collector }, succeeded(timed) ? 1 : 0, extra);
    sheet.add(collectorDuration, { target, collector }, timed.seconds, extra);
  }
}
