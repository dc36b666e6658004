/** The four contracts: golden examples, their JSON Schemas, and the code that reads them say the same. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';
import { processMessageSchema, snapshotSchema } from '../../src/observe/snapshot.ts';
import { readRecording } from '../../src/recording/reader.ts';
import { recordSchema } from '../../src/recording/schema.ts';
import { reportSchema, type Report } from '../../src/verdict/schema.ts';
import { verdict } from '../../src/verdict/verdict.ts';

const path = (name: string): string => new URL(`../golden/${name}`, import.meta.url).pathname;
const golden = (name: string): string => readFileSync(path(name), 'utf8');

function validates(schema: string, value: unknown): void {
  const text = readFileSync(new URL(`../../schemas/${schema}.json`, import.meta.url), 'utf8');
  const ajv = new Ajv2020({ strict: false });
  assert.ok(ajv.validate(JSON.parse(text) as object, value), `${schema}: ${ajv.errorsText()}`);
}

test('the JSON Schemas are current', () => {
  execFileSync(process.execPath, [
    '--import',
    'tsx',
    new URL('../../scripts/generate.ts', import.meta.url).pathname,
    '--check',
  ]);
});

test('configuration', () => {
  const text = golden('config.v1.yaml');
  validates('config.v1', parse(text));
  assert.deepEqual(Object.keys(parseConfig(text, 'golden').targets), ['unbounded', 'mine', 'staging']);
});

test('probe', () => {
  const snapshot: unknown = JSON.parse(golden('probe-snapshot.v1.json'));
  validates('probe-snapshot.v1', snapshot);
  const [manager] = snapshotSchema.parse(snapshot).managers;
  assert.ok(manager);
  assert.equal(manager.registered, manager.registeredAtStart + manager.registrations - manager.removals);
  const message: unknown = JSON.parse(golden('probe-process.v1.json'));
  validates('probe-process.v1', message);
  processMessageSchema.parse(message);
});

for (const version of ['v1', 'v2'])
  test(`recording of version ${version.slice(1)}`, async () => {
    for (const line of golden(`recording.${version}.ndjson`).trim().split('\n'))
      validates('recording.v2', JSON.parse(line));
    const recording = await readRecording(path(`recording.${version}.ndjson`));
    assert.deepEqual(recording.damage, []);
    assert.equal(recording.end?.reason, 'complete');
  });

test('the line of a sweep', () => {
  const line = { type: 'sweep', t: 1, package: 'mcp', versions: ['1.29.1', '1.30.0'], mode: 'all' };
  validates('recording.v2', line);
  recordSchema.parse(line);
});

/** @returns the verdict on a golden recording, which is the golden report */
async function judged(recording: string, wanted: string): Promise<Report> {
  const report = verdict(await readRecording(path(recording)));
  validates('report.v1', report);
  reportSchema.parse(report);
  assert.deepEqual(JSON.parse(JSON.stringify(report)), JSON.parse(golden(wanted)));
  return report;
}

test('report: the verdict on the golden recording is the golden report', async () => {
  const report = await judged('recording.v1.ndjson', 'report.v1.json');
  assert.deepEqual(
    report.builds.map((build) => [
      build.version,
      build.cases[0]?.sessions?.registered,
      build.cases[0]?.status,
    ]),
    [
      ['1.29.1', 8, 'fail'],
      ['1.30.0', 0, 'pass'],
    ],
  );
});

test('report of a comparison: the same, with what became of each claim', async () => {
  const {
    comparison,
    allowances,
    verdict: found,
  } = await judged('recording.v2.ndjson', 'comparison.v1.json');
  const regressed = comparison?.changes.filter((one) => one.change === 'regressed');
  assert.deepEqual(
    regressed?.map((one) => one.claim),
    ['delete.deregisters'],
  );
  assert.deepEqual(comparison?.differences, [{ name: 'mcp', baseline: '1.30.0', candidate: '1.29.1' }]);
  assert.deepEqual(
    allowances.map((one) => one.stale),
    [true],
  );
  assert.equal(found, 'fail');
});
