/** docs/runbooks.md has a section for each alert and none besides, and names only series that exist. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { alertsOf, DEFAULT_RULES_OPTIONS } from '../../dashboards/rules/index.ts';
import { RECORDED } from '../../dashboards/rules/names.ts';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { checkRules, prometheusMissing } from '../support/prometheus.ts';

const page = readFileSync(new URL('../../docs/runbooks.md', import.meta.url), 'utf8');
const sections = page
  .split(/^## /m)
  .slice(1)
  .map((text) => ({ name: text.slice(0, text.indexOf('\n')).trim(), text }));
const queries = [...page.matchAll(/```promql\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
);
const alerts = alertsOf(DEFAULT_RULES_OPTIONS);

describe('runbooks', () => {
  it('have a section for each alert, in the order of the rule file', () => {
    assert.deepEqual(
      sections.map(({ name }) => name),
      alerts.map(({ name }) => name),
    );
  });

  it('say severity, confirmation and what to do', () => {
    for (const { name, text } of sections) {
      const severity = alerts.find((alert) => alert.name === name)?.severity ?? '';
      const begins = `**${severity.charAt(0).toUpperCase()}${severity.slice(1)}.**`;
      assert.ok(text.includes(begins), `${name} does not begin with ${begins}`);
      assert.match(text, /^Confirm:$/m, name);
      assert.match(text, /^Do: /m, name);
    }
  });

  it('name no series that does not exist', () => {
    const known = new Set([...CATALOGUE, ...RECORDED].map(({ name }) => name));
    const used = queries.flatMap(
      (query) => query.match(/\b(?:(?:manager|worker|instance|target):)?mcp_[a-z_]+(?::[a-z0-9_]+)?/g) ?? [],
    );
    assert.ok(used.length > 20);
    assert.deepEqual(
      [...new Set(used)].filter((name) => !known.has(name)),
      [],
    );
  });

  it('have queries that Prometheus parses', { skip: prometheusMissing }, async () => {
    const rules = queries.map(
      (expr, index) => `  - {record: "q${String(index)}", expr: ${JSON.stringify(expr)}}`,
    );
    const { code, output } = await checkRules(`groups:\n- name: runbooks\n  rules:\n${rules.join('\n')}\n`);
    assert.equal(code, 0, output);
  });
});
