/** The rule file, for the default options and for others: valid, complete, and about the series that were asked for. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  DEFAULT_RULES_OPTIONS,
  ruleGroups,
  rulesFiles,
  type RulesOptions,
} from '../../dashboards/rules/index.ts';
import { RECORDED } from '../../dashboards/rules/names.ts';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { checkRules, prometheusMissing } from '../support/prometheus.ts';

const OTHER: RulesOptions = {
  ...DEFAULT_RULES_OPTIONS,
  selector: 'job="mcp",env=~"prod|staging"',
  loadSelector: 'job="load"',
  idleMaxSeconds: 90,
  maxSessions: 700,
  scrapeIntervalSeconds: 5,
  runbooks: 'https://runbooks.example.com/mcp',
};
const textOf = (options: RulesOptions): string => rulesFiles(options)[0]?.text ?? '';

describe('rule file', () => {
  for (const [title, options] of [
    ['default options', DEFAULT_RULES_OPTIONS],
    ['other labels and thresholds', OTHER],
  ] as const)
    it(`is valid with ${title}`, { skip: prometheusMissing }, async () => {
      const { code, output } = await checkRules(textOf(options), ['--lint=all', '--lint-fatal']);
      assert.equal(code, 0, output);
      const written = ruleGroups(options).reduce((sum, { rules }) => sum + rules.length, 0);
      assert.ok(written > 40);
      assert.match(output, new RegExp(`\\b${String(written)} rules found`));
    });

  it('records everything that it names', () => {
    const records = ruleGroups(DEFAULT_RULES_OPTIONS).flatMap(({ rules }) =>
      rules.flatMap((rule) => ('record' in rule ? [rule.record] : [])),
    );
    for (const { name } of RECORDED) assert.ok(records.includes(name), name);
  });

  it("looks at the selected series alone, but for Prometheus' own and k6's", () => {
    const exprs = ruleGroups(OTHER).flatMap(({ rules }) => rules.map(({ expr }) => expr));
    const used = exprs.flatMap((expr) => [...expr.matchAll(/(?<![:\w])(mcp_[a-z_]+)(\{[^}]*\})?/g)]);
    assert.ok(used.length > 40);
    for (const [whole, , matchers = ''] of used) {
      if (matchers.includes('job=""')) continue;
      // What a rule makes of k6's series has no job, and is the load side's as well.
      const wanted = whole.startsWith('mcp_client') ? 'job=~"load|"' : OTHER.selector;
      assert.ok(matchers.includes(wanted), whole);
    }
  });

  it('follows policy, scrape interval and address of the runbooks', () => {
    const text = textOf(OTHER);
    assert.match(text, /\* 0 \+ 90/);
    assert.match(text, /\* 0 \+ 700/);
    assert.match(text, /min_over_time\(mcp_sessions_registered\{[^}]*\}\[20s\]\)/);
    assert.match(text, /runbook_url: https:\/\/runbooks\.example\.com\/mcp#mcpretentiondrift/);
  });

  it('has its metrics from the catalogue: none stands as text in its sources', () => {
    const folder = new URL('../../dashboards/rules/', import.meta.url);
    for (const file of readdirSync(folder)) {
      const source = readFileSync(new URL(file, folder), 'utf8');
      for (const { name } of CATALOGUE) assert.ok(!source.includes(name), `${name} in ${file}`);
    }
  });
});
