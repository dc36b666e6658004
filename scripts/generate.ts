/**
 * Writes what follows from the code: the JSON Schemas of the contracts. `--check` writes nothing and fails when
 * a file is not current.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { configSchema } from '../src/config/schema.ts';
import { processMessageSchema, snapshotSchema } from '../src/observe/snapshot.ts';
import { recordSchema } from '../src/recording/schema.ts';
import { reportSchema } from '../src/verdict/schema.ts';

const TITLES: Record<string, [string, z.ZodType]> = {
  'config.v1': ['mcp-retention.yaml', configSchema],
  'probe-snapshot.v1': ['Answer of a probe to GET /v1/snapshot', snapshotSchema],
  'probe-process.v1': ['Answer of a probe to GET /v1/process', processMessageSchema],
  'recording.v1': ['One line of a recording', recordSchema],
  'report.v1': ['JSON report', reportSchema],
};

const folder = new URL('../schemas/', import.meta.url);
const check = process.argv.includes('--check');
const stale: string[] = [];
mkdirSync(folder, { recursive: true });
for (const [name, [title, schema]] of Object.entries(TITLES)) {
  const file = new URL(`${name}.json`, folder);
  const text = JSON.stringify({ title, ...z.toJSONSchema(schema, { io: 'input' }) }, null, 2) + '\n';
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  stale.push(`schemas/${name}.json`);
  if (!check) writeFileSync(file, text);
}
if (stale.length > 0)
  console.log(`${check ? 'not current (npm run generate mends it)' : 'wrote'}: ${stale.join(', ')}`);
if (check && stale.length > 0) process.exitCode = 1;
