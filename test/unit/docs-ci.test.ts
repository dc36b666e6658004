/** docs/ci.md: its YAML is valid by what reads it, and its commands are those that there are. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { parse } from 'yaml';
import { checkAllowances } from '../../src/cli/allow.ts';
import { program } from '../../src/cli/program.ts';
import { parseConfig } from '../../src/config/load.ts';
import { FORMATS } from '../../src/report/formats.ts';
import { TOOL } from '../../src/version.ts';
import { readAction } from '../support/action.ts';
import { readProjectFile } from '../support/compose.ts';

const page = readProjectFile('docs/ci.md');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  );
const yaml = blocks('yaml');
const having = (key: string): string[] => yaml.filter((text) => Object.hasOwn(parse(text) as object, key));

interface Workflow {
  jobs: Record<string, { steps: { uses?: string; with?: Record<string, unknown> }[] }>;
}

describe('docs/ci.md', () => {
  const workflows = having('jobs');

  test("its workflows are valid by GitHub's schema", () => {
    assert.equal(workflows.length, 2);
    for (const content of workflows) {
      const { context } = parseWorkflow({ name: 'ci.yml', content }, new NoOperationTraceWriter());
      assert.deepEqual(context.errors.getErrors(), []);
    }
  });

  test('its workflows give the action inputs that it has, and all that it needs', () => {
    const { inputs } = readAction();
    const needed = Object.keys(inputs).filter((name) => inputs[name]?.required === true);
    const uses = workflows.flatMap((text) =>
      Object.values((parse(text) as Workflow).jobs).flatMap(({ steps }) =>
        steps.filter((step) => step.uses?.startsWith('OWNER/') === true),
      ),
    );
    assert.equal(uses.length, 2);
    for (const { uses: name, with: given = {} } of uses) {
      assert.equal(name, `OWNER/mcp-retention@v${TOOL.version}`);
      for (const input of Object.keys(given)) assert.ok(Object.hasOwn(inputs, input), input);
      for (const input of needed) assert.ok(Object.hasOwn(given, input), input);
    }
  });

  test('its configuration is valid', () => {
    const [config = ''] = having('allow');
    const parsed = parseConfig(config, 'ci.md');
    assert.deepEqual(Object.keys(parsed.targets), ['mine']);
    checkAllowances(parsed);
  });

  test('its GitLab job keeps the report that JUnit is read from, and its script is the last one’s', () => {
    const [text = ''] = having('mcp-retention');
    const { 'mcp-retention': job } = parse(text) as {
      'mcp-retention': {
        variables: { BASELINE: string };
        script: string[];
        artifacts: { paths: string[]; reports: { junit: string } };
      };
    };
    const [folder = ''] = job.artifacts.paths;
    assert.equal(job.artifacts.reports.junit, `${folder}/${FORMATS.junit.file}`);
    assert.match(
      job.variables.BASELINE,
      new RegExp(`/raw/${folder}/recording\\.ndjson\\?job=mcp-retention$`),
    );
    assert.ok(job.script.some((line) => line.endsWith(`--out ${folder}`)));
  });

  test('its commands and options are those of the program', () => {
    const lines = [...blocks('sh'), ...yaml].join('\n').split('\n');
    const commands = lines.flatMap((line) => {
      const [, rest] = /npx (?:--yes )?mcp-retention(?:@[\d.]+)? ([^#]*)/.exec(line) ?? [];
      return rest === undefined ? [] : [rest.trim().split(/\s+/)];
    });
    assert.ok(commands.length >= 7);
    for (const [name = '', ...args] of commands) {
      const root = program(new AbortController().signal, () => undefined);
      let command = root.commands.find((one) => one.name() === name);
      assert.ok(command, name);
      const sub = command.commands.find((one) => one.name() === args[0]);
      if (sub) command = sub;
      assert.deepEqual(command.parseOptions(args).unknown, [], `${name} ${args.join(' ')}`);
    }
    for (const [, version] of page.matchAll(/mcp-retention@v?([\d.]+\d)/g))
      assert.equal(version, TOOL.version);
  });
});
