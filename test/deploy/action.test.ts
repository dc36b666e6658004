/** action.yml by GitHub's own parser, and by what that does not look at. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseAction } from '@actions/workflow-parser/actions/action-parser';
import { NoOperationTraceWriter } from '@actions/workflow-parser';
import { projectFile, readProjectFile } from '../support/compose.ts';
import { readAction } from '../support/action.ts';

const errorsOf = (content: string): string[] =>
  parseAction({ name: 'action.yml', content }, new NoOperationTraceWriter())
    .context.errors.getErrors()
    .map((error) => error.message);

describe('action.yml', () => {
  const action = readAction();
  const { steps } = action.runs;

  test("is valid by GitHub's schema of actions", () => {
    assert.deepEqual(errorsOf(readProjectFile('action.yml')), []);
    assert.notDeepEqual(errorsOf(readProjectFile('action.yml').replace('using:', 'uses:')), []);
  });

  test('no expression stands in a shell line, and the scripts that it runs are there', () => {
    for (const { run = '', name } of steps) {
      assert.ok(!run.includes('${{'), name);
      for (const [, script = ''] of run.matchAll(/GITHUB_ACTION_PATH\/([\w./-]+)/g))
        assert.ok(existsSync(projectFile(script)), script);
    }
  });

  test('each script is given what it reads, and reads what it is given', () => {
    for (const { run = '', env = {} } of steps) {
      const [, script] = /(deploy\/github\/[\w-]+\.mjs)/.exec(run) ?? [];
      if (script === undefined) continue;
      const read = [...readProjectFile(script).matchAll(/input\('(\w+)'\)/g)].map(([, name = '']) => name);
      const given = Object.keys(env).filter((name) => name !== 'GH_TOKEN');
      assert.deepEqual(given.sort(), [...new Set(read)].sort(), script);
    }
  });

  test('every input is used, every one that is used is declared, and so are the outputs of steps', () => {
    const text = readProjectFile('action.yml');
    const used = [...text.matchAll(/inputs\.([\w-]+)/g)].map(([, name = '']) => name);
    assert.deepEqual([...new Set(used)].sort(), Object.keys(action.inputs).sort());
    const scripts = ['find-baseline', 'measure']
      .map((name) => readProjectFile(`deploy/github/${name}.mjs`))
      .join('');
    for (const [, name = ''] of text.matchAll(/steps\.\w+\.outputs\.([\w-]+)/g))
      assert.match(scripts, new RegExp(`\\b${name}\\b`), name);
  });

  test('actions of others are pinned by a commit', () => {
    for (const { uses } of steps.filter((step) => step.uses !== undefined))
      assert.match(uses ?? '', /@[0-9a-f]{40}$/);
  });
});
