/**
 * An open stream or a running call outlives the idle timeout.
 *
 *     k6 run loadtests/keepalive.ts -e TARGET=http://127.0.0.1:8000/mcp -e IDLE_TIMEOUT=1
 */
import { keepaliveCase } from '../src/cases/keepalive.ts';
import { caseScript } from './lib/case-script.ts';

const script = caseScript(keepaliveCase);

export const { options, setup, teardown, handleSummary } = script;
export default script.play;
