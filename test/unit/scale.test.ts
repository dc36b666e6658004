/** Every equation of docs/scale.md is computed again, and its constants are those of the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { IDLE_AGES } from '../../src/observe/snapshot.ts';
import * as catalogue from '../../src/metrics/catalogue.ts';

const page = readFileSync(new URL('../../docs/scale.md', import.meta.url), 'utf8');
const flat = page.replace(/\s+/g, ' ');

const numberOf = (text: string): number => {
  const root = text.startsWith('√');
  const value = Number((root ? text.slice(1) : text).replaceAll(',', ''));
  assert.ok(Number.isFinite(value), text);
  return root ? Math.sqrt(value) : value;
};

/** Products before sums, from left to right. */
function evaluate(text: string): number {
  const [first = '', ...rest] = text.trim().split(/\s+/);
  const terms = [numberOf(first)];
  for (let i = 0; i < rest.length; i += 2) {
    const value = numberOf(rest[i + 1] ?? '');
    const last = terms.pop() ?? NaN;
    const operator = rest[i];
    if (operator === '×') terms.push(last * value);
    else if (operator === '÷') terms.push(last / value);
    else if (operator === '+') terms.push(last, value);
    else if (operator === '−') terms.push(last, -value);
    else assert.fail(`${operator ?? ''} in ${text}`);
  }
  return terms.reduce((sum, term) => sum + term, 0);
}

describe('docs/scale.md', () => {
  const equations = [...flat.matchAll(/`([^`]* (?:=|≈) [\d,.]+)`/g)].map(([, text = '']) => text);

  it('computes what it says', () => {
    assert.ok(equations.length > 20, String(equations.length));
    for (const equation of equations) {
      const [, left = '', sign, right = ''] = /^(.*) ([=≈]) (\S+)$/.exec(equation) ?? [];
      const digits = right.split('.')[1]?.length ?? 0;
      const difference = Math.abs(evaluate(left) - numberOf(right));
      assert.ok(difference <= (sign === '=' ? 1e-9 * numberOf(right) : 0.5 * 10 ** -digits), equation);
    }
  });

  it('counts the series of a worker as the catalogue has them', () => {
    const shown = catalogue.CATALOGUE.filter(({ name }) => !name.startsWith('mcp_client_'));
    const seriesOf = ({ name, type, buckets = [] }: (typeof shown)[number]): number =>
      type === 'histogram' ? buckets.length + 3 : name === catalogue.sessionsIdle.name ? IDLE_AGES.length : 1;
    const total = (metrics: typeof shown): number =>
      metrics.reduce((sum, metric) => sum + seriesOf(metric), 0);
    const ofManager = total(shown.filter(({ labels }) => labels.includes('manager')));
    const ofWorker = total(
      shown.filter(({ labels }) => labels.includes('worker') && !labels.includes('manager')),
    );
    assert.ok(
      flat.includes(`\`${ofManager} + ${ofWorker} = ${ofManager + ofWorker}\``),
      `${ofManager} + ${ofWorker}`,
    );
  });

  it('links to what is there', () => {
    for (const path of ['deploy/k6.Dockerfile', 'deploy/kubernetes/k6/params.env'])
      assert.ok(readFileSync(new URL(`../../${path}`, import.meta.url)).length > 0);
  });
});
