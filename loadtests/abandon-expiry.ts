/**
 * Abandoned sessions with an idle timeout: there before it, gone after it.
 *
 *     k6 run loadtests/abandon-expiry.ts -e TARGET=http://127.0.0.1:8000/mcp -e IDLE_TIMEOUT=1
 */
import { abandonExpiryCase } from '../src/cases/abandon-expiry.ts';
import { caseScript } from './lib/case-script.ts';

const script = caseScript(abandonExpiryCase);

export const { options, setup, teardown, handleSummary } = script;
export default script.play;
