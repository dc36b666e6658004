/**
 * Clients that go away without DELETE: held for a while, but not without bound.
 *
 *     k6 run loadtests/abandon.ts -e TARGET=http://127.0.0.1:8000/mcp
 */
import { abandonCase } from '../src/cases/abandon.ts';
import { caseScript } from './lib/case-script.ts';

const script = caseScript(abandonCase);

export const { options, setup, teardown, handleSummary } = script;
export default script.play;
