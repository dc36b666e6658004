/**
 * Openings that must be refused, every kind in turn: none may leave a session.
 *
 *     k6 run loadtests/reject.ts -e TARGET=http://127.0.0.1:8000/mcp
 */
import { rejectCase } from '../src/cases/reject.ts';
import { caseScript } from './lib/case-script.ts';

const script = caseScript(rejectCase);

export const { options, setup, teardown, handleSummary } = script;
export default script.play;
