/** The release check where something is amiss: a baseline that must not be lost, one server under two names. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CASES } from '../../src/cases/index.ts';
import { reportSchema, type Report } from '../../src/verdict/schema.ts';
import { startSuspect } from '../fixtures/servers/suspect.ts';
import { cli, inFolder, oneSentence } from '../support/cli.ts';
import { suspectsConfig } from '../support/measure.ts';

const BROKEN = {
  command: process.execPath,
  args: ['--eval', 'process.exit(1)'],
  url: 'http://127.0.0.1:{port}/mcp',
};
const FEW = ['--sessions', '20'];
const DELETE = ['--case', 'delete', ...FEW];
const BOTH = ['--case', 'reject', ...DELETE];

async function withTargets(use: (folder: string) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const faults = { clean: null, leaky: 'delete-keeps-entry' };
    writeFileSync(join(folder, 'mcp-retention.yaml'), suspectsConfig(faults, {}, { broken: BROKEN }));
    await use(folder);
  });
}

const textOf = (folder: string, file: string): string => readFileSync(join(folder, file), 'utf8');
const reportOf = (folder: string): Report => reportSchema.parse(JSON.parse(textOf(folder, 'report.json')));

/** A baseline of the clean target, by its first run. */
async function firstBaseline(folder: string, size: readonly string[]): Promise<string> {
  const first = await cli(['compare', 'base.ndjson', 'clean', ...size, '--baseline', 'update'], folder);
  assert.equal(first.code, 0, first.stderr);
  return textOf(folder, 'base.ndjson');
}

describe('a baseline', { concurrency: 2 }, () => {
  test('stays where the candidate does not start, and none is made of one that does not', () =>
    withTargets(async (folder) => {
      const whole = await firstBaseline(folder, DELETE);
      const later = await cli(['compare', 'base.ndjson', 'broken', '--baseline', 'update'], folder);
      assert.equal(later.code, 3);
      assert.match(later.stderr, /base\.ndjson stays as it is: nothing was measured on broken/);
      assert.equal(textOf(folder, 'base.ndjson'), whole);
      const first = await cli(
        ['compare', 'none.ndjson', 'broken', ...DELETE, '--baseline', 'update'],
        folder,
      );
      assert.equal(first.code, 3);
      assert.match(first.stderr, /none\.ndjson is not written: nothing was measured/);
      assert.throws(() => textOf(folder, 'none.ndjson'), /ENOENT/);
    }));

  test('is compared in the cases that are chosen, and does not lose the others', () =>
    withTargets(async (folder) => {
      const whole = await firstBaseline(folder, BOTH);
      const narrow = ['compare', 'base.ndjson', 'clean', '--case', 'delete', '--json', 'report.json'];
      const { code, stderr } = await cli([...narrow, '--baseline', 'update'], folder);
      assert.equal(code, 0, stderr);
      assert.deepEqual(
        new Set(reportOf(folder).comparison?.changes.map((one) => one.case)),
        new Set(['delete']),
      );
      assert.match(stderr, /stays as it is: reject\.refused and \d+ more would be lost/);
      assert.equal(textOf(folder, 'base.ndjson'), whole);
    }));

  test('is not written over by a report', () =>
    withTargets(async (folder) => {
      const whole = await firstBaseline(folder, DELETE);
      const refused = await cli(['compare', 'base.ndjson', 'clean', '--json', './base.ndjson'], folder);
      oneSentence(refused, 2, /--json \.\/base\.ndjson is a recording that is compared/);
      const coming = ['compare', 'next.ndjson', 'clean', '--junit', 'next.ndjson', '--baseline', 'update'];
      oneSentence(await cli(coming, folder), 2, /--junit next\.ndjson is a recording that is compared/);
      assert.equal(textOf(folder, 'base.ndjson'), whole);
    }));

  test('that was cut leaves a candidate undecided that nothing else is wrong with', () =>
    withTargets(async (folder) => {
      const lines = (await firstBaseline(folder, BOTH)).trimEnd().split('\n');
      // The last case is lost; the first one is there to its end.
      const end = lines.findIndex((line) => line.includes('"type":"arm-end"'));
      writeFileSync(join(folder, 'base.ndjson'), lines.slice(0, end + 1).join('\n') + '\n');
      const args = ['compare', 'base.ndjson', 'clean', ...DELETE, '--json', 'report.json'];
      assert.equal((await cli(args, folder)).code, 3);
      const { complete, notices, comparison } = reportOf(folder);
      assert.equal(complete, false);
      assert.ok(notices.some(({ text }) => /The recording of clean.* was not played to its end/.test(text)));
      assert.ok(comparison?.changes.every(({ change }) => change !== 'regressed'));
      // What it has lost is not known, so that every case is played.
      await cli(['compare', 'base.ndjson', 'broken', '--json', 'report.json'], folder);
      const candidate = reportOf(folder).builds.find(({ name }) => name.startsWith('broken'));
      assert.equal(candidate?.cases.length, CASES.length);
    }));

  test('that was cut before a case was begun is none', () =>
    withTargets(async (folder) => {
      const lines = (await firstBaseline(folder, DELETE)).split('\n');
      writeFileSync(join(folder, 'cut.ndjson'), lines.slice(0, 2).join('\n'));
      oneSentence(
        await cli(['compare', 'cut.ndjson', 'clean'], folder),
        2,
        /holds no case of clean: it was cut/,
      );
      const both = ['compare', 'base.ndjson', 'base.ndjson', '--require-probe'];
      oneSentence(await cli(both, folder), 2, /--require-probe is for what is measured, and both sides are/);
    }));
});

test('one server under two names is never played with by two cases at once', async () => {
  const suspect = await startSuspect({ maxSessions: 60, idleTimeout: 2 });
  try {
    await inFolder(async (folder) => {
      const declared = { maxSessions: 60, idleTimeout: 2 };
      const targets = {
        one: { url: suspect.url, declared },
        other: { url: suspect.url.replace('127.0.0.1', 'localhost'), declared },
      };
      writeFileSync(join(folder, 'mcp-retention.yaml'), suspectsConfig({}, {}, targets));
      const cases = ['--case', 'delete', '--case', 'over-cap', ...FEW, '--concurrency', '16'];
      const { code, stdout, stderr } = await cli(
        ['compare', 'one', 'other', ...cases, '--json', 'report.json'],
        folder,
      );
      assert.notEqual(code, 1, stdout + stderr);
      const { comparison, builds } = reportOf(folder);
      assert.deepEqual(
        comparison?.changes.filter((one) => one.change === 'regressed'),
        [],
      );
      const filled = builds.flatMap((build) => build.cases.flatMap((played) => played.claims));
      for (const claim of filled.filter(({ id }) => id === 'over-cap.refuses'))
        assert.equal(claim.status, 'pass', claim.reason);
    });
  } finally {
    await suspect.close();
  }
});
