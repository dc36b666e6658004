/**
 * DELETE must take the session out of the registry.
 *
 *     k6 run loadtests/delete.ts -e TARGET=http://127.0.0.1:8000/mcp
 */
import { deleteCase } from '../src/cases/delete.ts';
import { caseScript } from './lib/case-script.ts';

const script = caseScript(deleteCase);

export const { options, setup, teardown, handleSummary } = script;
export default script.play;
