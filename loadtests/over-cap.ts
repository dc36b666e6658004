/**
 * Openings up to a cap and beyond it, one by one, racing and flooding.
 *
 *     k6 run loadtests/over-cap.ts -e TARGET=http://127.0.0.1:8000/mcp -e CAP=20
 */
import { overCapCase } from '../src/cases/over-cap.ts';
import { caseScript } from './lib/case-script.ts';

const script = caseScript(overCapCase);

export const { options, setup, teardown, handleSummary } = script;
export default script.play;
