/** The dashboards' JSON: what Grafana's own schema does not hold, and what readers rely on. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MappingType, VariableType } from '@grafana/grafana-foundation-sdk/dashboard';
import * as units from '@grafana/grafana-foundation-sdk/units';
import { parseAllDocuments } from 'yaml';
import { dashboardFiles, dashboardsOf } from '../../dashboards/index.ts';
import { isRow, panelsOf } from '../../dashboards/kit/import.ts';
import { DEFAULT_RULES_OPTIONS } from '../../dashboards/rules/options.ts';
import { annotationsOf, queriesOf, variablesIn } from '../support/grafana.ts';

const OPTIONS = { ...DEFAULT_RULES_OPTIONS, runbooks: 'https://example.com/runbooks' };
const ALL = Object.entries(dashboardsOf(OPTIONS));
const KNOWN_UNITS = new Set<unknown>(Object.values(units));
/** Variables that Grafana itself provides. */
const GIVEN = ['__rate_interval', '__range', '__interval'];

for (const [name, dashboard] of ALL) {
  const panels = panelsOf(dashboard);
  const variables = dashboard.templating.list ?? [];

  test(`${name}: identity, time and links`, () => {
    assert.equal(dashboard.uid, `mcp-${name}`);
    assert.equal(dashboard.id, undefined, 'an id belongs to one Grafana');
    assert.equal(dashboard.timezone, 'utc');
    assert.equal(dashboard.editable, false);
    assert.ok(dashboard.tags?.includes('mcp-retention'));
    assert.ok((dashboard.description ?? '').length > 20);
    const links = (dashboard.links ?? []).map(({ type, url, tags }) => [type, url ?? '', tags]);
    assert.deepEqual(links, [
      ['dashboards', '', ['mcp-retention']],
      ['link', 'https://example.com/runbooks', []],
    ]);
  });

  test(`${name}: ids are unique, panels lie on the grid beside each other`, () => {
    const everything = [...panels, ...(dashboard.panels ?? []).filter(isRow)];
    const ids = everything.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.every((id) => (id ?? 0) > 0));
    const taken = new Set<string>();
    for (const { title, gridPos } of everything) {
      assert.ok(gridPos && gridPos.x >= 0 && gridPos.x + gridPos.w <= 24, title);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          assert.ok(!taken.has(`${x},${y}`), `${title ?? ''} overlaps`);
          taken.add(`${x},${y}`);
        }
    }
  });

  test(`${name}: every panel says what it shows, in a known unit`, () => {
    for (const { title = '', description = '', fieldConfig } of panels) {
      assert.ok(title.length > 2, 'title');
      assert.ok(description.length > 40, `${title}: description`);
      const unit = fieldConfig?.defaults.unit ?? '';
      assert.ok(KNOWN_UNITS.has(unit) || /^suffix: \w+\/(s|min)$/.test(unit), `${title}: unit "${unit}"`);
    }
    assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length, 'titles differ');
  });

  test(`${name}: everything is asked of the chosen data source`, () => {
    const chosen = { type: 'prometheus', uid: '${datasource}' };
    for (const panel of panels) {
      assert.deepEqual(panel.datasource, chosen, panel.title);
      for (const query of queriesOf(panel)) assert.deepEqual(query.datasource, chosen, panel.title);
    }
    for (const { type, datasource, label, description } of variables) {
      if (type !== VariableType.Datasource) assert.deepEqual(datasource, chosen);
      assert.ok(label && description);
    }
    for (const { datasource } of dashboard.annotations.list ?? []) assert.deepEqual(datasource, chosen);
  });

  test(`${name}: queries name only variables that there are, each narrowed by those before it`, () => {
    const known = new Set([...variables.map((variable) => variable.name), ...GIVEN]);
    const texts = [
      ...panels.flatMap((panel) => queriesOf(panel).map(({ expr, legendFormat }) => expr + legendFormat)),
      ...annotationsOf(dashboard).map(({ expr }) => expr),
    ];
    for (const text of texts)
      for (const used of variablesIn(text)) assert.ok(known.has(used), `$${used} in ${text}`);
    const seen = new Set<string>();
    for (const variable of variables) {
      for (const used of variablesIn(variable.definition ?? '')) assert.ok(seen.has(used), variable.name);
      seen.add(variable.name);
    }
    const used = new Set(texts.flatMap(variablesIn));
    for (const { name, type } of variables)
      assert.ok(type === VariableType.Datasource || used.has(name), `$${name} is used`);
  });

  // The rules of Grafana's dashboard-linter that apply. Those on `instance` do for the fleet alone: elsewhere the
  // exporter that an answer came by does not matter.
  test(`${name}: linted`, () => {
    const source = variables[0];
    assert.deepEqual(
      [source?.name, source?.label, source?.type, source?.query],
      ['datasource', 'Data source', 'datasource', 'prometheus'],
    );
    for (const variable of variables.filter(({ name }) => ['job', 'instance'].includes(name)))
      assert.deepEqual(
        [variable.type, variable.multi, variable.includeAll, variable.allValue],
        ['query', true, true, '.+'],
      );
    for (const variable of variables.filter(({ type }) => type === VariableType.Query))
      assert.equal(variable.refresh, 2, `${variable.name} follows the time range`);
    for (const panel of panels) {
      const queries = queriesOf(panel);
      assert.ok(queries.length > 0, panel.title);
      for (const { expr, legendFormat, refId } of queries) {
        const where = `${panel.title ?? ''} ${refId}`;
        assert.ok(legendFormat.length > 0 && legendFormat !== '__auto', where);
        // Counters are read as rates over the interval that fits the resolution, never by increase().
        for (const [, window] of expr.matchAll(/\brate\([^[]*\[([^\]]+)\]/g))
          assert.equal(window, '$__rate_interval', where);
        assert.doesNotMatch(expr, /\b(i?delta|irate|increase)\(/, where);
      }
      if (panel.type === 'timeseries') {
        const { legend } = panel.options as { legend: { showLegend: boolean } };
        assert.ok(legend.showLegend, panel.title);
      }
    }
  });

  test(`${name}: absence of data never looks healthy`, () => {
    for (const panel of panels) {
      const { defaults } = panel.fieldConfig ?? {};
      const [lowest, ...others] = defaults?.thresholds?.steps ?? [];
      assert.deepEqual(lowest, { value: null, color: 'text' }, `${panel.title ?? ''}: lowest threshold`);
      assert.ok(others.every(({ value }) => value !== null));
      assert.equal(defaults?.noValue, 'no data', panel.title);
      const special = (defaults.mappings ?? []).find(({ type }) => type === MappingType.SpecialValue);
      assert.deepEqual(special?.options, {
        match: 'null+nan',
        result: { text: 'no data', color: 'text', index: 99 },
      });
      const custom = (defaults.custom ?? {}) as { spanNulls?: unknown };
      assert.ok(!custom.spanNulls, `${panel.title ?? ''}: gaps stay gaps`);
      for (const { expr, instant, range } of queriesOf(panel)) {
        // The last value of a series that has ended is no value of today.
        if (['stat', 'table'].includes(panel.type)) assert.deepEqual([instant, range], [true, false]);
        assert.doesNotMatch(expr.replaceAll(/- \([^-]*or vector\(0\)\)/g, ''), /vector\(/, panel.title);
      }
    }
  });
}

test('what Grafana gets: plain, for the import page, for the sidecar', () => {
  const files = new Map(dashboardFiles(OPTIONS).map(({ path, text }) => [path, text]));
  const maps = parseAllDocuments(files.get('configmaps.yaml') ?? '').map(
    (document) => document.toJS() as { metadata: Record<string, unknown>; data: Record<string, string> },
  );
  assert.equal(maps.length, ALL.length);
  for (const [index, [name, dashboard]] of ALL.entries()) {
    const plain = JSON.parse(files.get(`${name}.json`) ?? '') as object;
    assert.deepEqual(plain, JSON.parse(JSON.stringify(dashboard)));
    assert.ok(!('id' in plain) && !('__inputs' in plain));

    const { __inputs, __requires, __elements, templating, ...rest } = JSON.parse(
      files.get(`import/${name}.json`) ?? '',
    ) as Record<string, unknown> & { __requires: { type: string; id: string }[] };
    assert.deepEqual(
      (__inputs as { name: string }[]).map((input) => input.name),
      ['DS_PROMETHEUS'],
    );
    assert.deepEqual(__elements, {});
    const [source] = (templating as { list: { current: object }[] }).list;
    assert.deepEqual(source?.current, { text: '${DS_PROMETHEUS}', value: '${DS_PROMETHEUS}' });
    const required = __requires.filter(({ type }) => type === 'panel').map(({ id }) => id);
    assert.deepEqual(required, [...new Set(panelsOf(dashboard).map(({ type }) => type))].sort());
    assert.deepEqual({ ...plain, templating: null }, { ...rest, templating: null });

    const map = maps[index];
    assert.deepEqual((map?.metadata as { labels: object } | undefined)?.labels, {
      grafana_dashboard: '1',
      'app.kubernetes.io/part-of': 'mcp-retention',
    });
    const [text = ''] = Object.values(map?.data ?? {});
    assert.deepEqual(JSON.parse(text), plain);
    assert.ok(
      text.length < 200_000,
      `${name}: ${text.length} characters, kubectl apply keeps a copy of 256 KiB`,
    );
  }
});

test('a selector reaches every query of a metric, and a page of runbooks is linked where it has an address', () => {
  const options = {
    ...OPTIONS,
    selector: 'cluster="a"',
    loadSelector: 'cluster="b"',
    runbooks: 'docs/runbooks.md',
  };
  for (const [name, dashboard] of Object.entries(dashboardsOf(options))) {
    assert.deepEqual(
      (dashboard.links ?? []).map(({ title }) => title),
      ['MCP retention'],
    );
    const texts = panelsOf(dashboard).flatMap((panel) => queriesOf(panel).map(({ expr }) => expr));
    texts.push(...(dashboard.templating.list ?? []).map(({ definition }) => definition ?? ''));
    for (const text of texts)
      for (const [, metric = '', rest = ''] of text.matchAll(/(?<![:\w])(mcp_\w+)(\{[^}]*\})?/g)) {
        const expected = metric.startsWith('mcp_client_') ? '{cluster="b"' : '{cluster="a"';
        assert.ok(rest.startsWith(expected), `${name}: ${metric}${rest}`);
      }
  }
});

test('dashboards/dist is current (npm run generate mends it)', () => {
  for (const { path, text } of dashboardFiles(DEFAULT_RULES_OPTIONS))
    assert.ok(readFileSync(new URL(`../../dashboards/dist/${path}`, import.meta.url), 'utf8') === text, path);
});
