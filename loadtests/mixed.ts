/**
 * Sessions of all kinds arrive at a steady rate, the same by number as those of `mcp-retention load`.
 *
 *     k6 run loadtests/mixed.ts -e TARGET=http://127.0.0.1:8000/mcp -e RATE=20 -e DURATION=5m
 */
import { arrivalsScript } from './lib/arrivals-script.ts';

const script = arrivalsScript({
  id: 'mixed',
  title: 'A mix of all kinds of sessions',
  rate: 10,
  duration: '1m',
});

export const { options, setup, teardown, handleSummary } = script;
export default script.play;
