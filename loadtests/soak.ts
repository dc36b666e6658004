/**
 * The mixed workload, slow and for long: what grows with time shows in Prometheus, not in a burst.
 *
 *     k6 run loadtests/soak.ts -e TARGET=http://127.0.0.1:8000/mcp -e DURATION=24h
 */
import { arrivalsScript } from './lib/arrivals-script.ts';

const script = arrivalsScript({
  id: 'soak',
  title: 'A mix of all kinds of sessions, for long',
  rate: 2,
  duration: '4h',
});

export const { options, setup, teardown, handleSummary } = script;
export default script.play;
