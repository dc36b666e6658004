/**
 * With an idle timeout, nothing of a deleted session may be left after it.
 *
 *     k6 run loadtests/delete-expiry.ts -e TARGET=http://127.0.0.1:8000/mcp -e IDLE_TIMEOUT=1
 */
import { deleteExpiryCase } from '../src/cases/delete-expiry.ts';
import { caseScript } from './lib/case-script.ts';

const script = caseScript(deleteExpiryCase);

export const { options, setup, teardown, handleSummary } = script;
export default script.play;
