/** Ranges of versions, and what pip says of those that there are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compare, gte, lte } from '@renovatebot/pep440';
import { indexSettingsForPip } from '../../src/targets/index-settings.ts';
import { TargetError, UsageError } from '../../src/targets/target.ts';
import { parsePublished, parseRange, versionsIn } from '../../src/targets/versions.ts';

const final = fc.tuple(fc.nat(3), fc.nat(30), fc.nat(5)).map((parts) => parts.join('.'));
const early = fc.tuple(final, fc.constantFrom('a1', 'b2', 'rc1', '.dev3')).map((parts) => parts.join(''));
const version = fc.oneof(
  { weight: 3, arbitrary: final },
  early,
  final.map((text) => `${text}.post1`),
);
const isEarly = (text: string): boolean => /a|b|rc|dev/.test(text);
const published = (versions: readonly string[]) => ({ versions, yanked: new Set<string>() });

test('property: two versions in order are a range, and backwards they are not', () => {
  fc.assert(
    fc.property(version, version, fc.constantFrom('', ' '), (a, b, space) => {
      const [from = '', to = ''] = [a, b].sort(compare);
      assert.deepEqual(parseRange(`${from}${space}..${space}${to}`), { from, to });
      if (compare(from, to) !== 0) assert.throws(() => parseRange(`${to}..${from}`), UsageError);
    }),
  );
});

test('property: a text is a range or one sentence', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 30 }), (text) => {
      try {
        parseRange(text);
      } catch (error) {
        assert.ok(error instanceof UsageError && error.message.startsWith('--versions'));
      }
    }),
  );
});

test('property: what is in the range is given once, oldest first, and nothing else', () => {
  fc.assert(
    fc.property(fc.uniqueArray(version, { maxLength: 60 }), version, version, (all, a, b) => {
      const [from = '', to = ''] = [a, b].sort(compare);
      const wanted = all.filter(
        (one) => gte(one, from) && lte(one, to) && (isEarly(from) || isEarly(to) || !isEarly(one)),
      );
      if (wanted.length === 0) {
        assert.throws(() => versionsIn({ from, to }, published(all)), UsageError);
        return;
      }
      const found = versionsIn({ from, to }, published(all));
      assert.deepEqual([...found].sort(), [...wanted].sort());
      assert.deepEqual(found, [...found].sort(compare));
    }),
  );
});

test('what is no range is one sentence with the mend', () => {
  const wrong: [string, RegExp][] = [
    ['1.8.0', /write the oldest and the newest version/],
    ['1.8.0..', /write the oldest and the newest version/],
    ['..2.0.0', /write the oldest and the newest version/],
    ['1.8.0..newest', /newest is not a version/],
    ['1.8.0...2.0.0', /\.2\.0\.0 is not a version/],
    ['2.0.0..1.8.0', /2\.0\.0 is newer than 1\.8\.0/],
  ];
  for (const [text, expected] of wrong)
    assert.throws(
      () => parseRange(text),
      (error) => error instanceof UsageError && expected.test(error.message) && !error.message.includes('\n'),
      text,
    );
});

test('an empty range names what there is', () => {
  const there = published(['1.0.0', '1.2.0rc1', '1.1.0']);
  assert.throws(() => versionsIn({ from: '3.0.0', to: '4.0.0' }, there), /from 1\.0\.0 to 1\.1\.0/);
  assert.throws(() => versionsIn({ from: '1.0.0', to: '2.0.0' }, published(['1.5.0b1'])), /no final version/);
  assert.deepEqual(versionsIn({ from: '1.0.0', to: '2.0.0' }, there), ['1.0.0', '1.1.0']);
  assert.deepEqual(versionsIn({ from: '1.1.0', to: '1.2.0rc1' }, there), ['1.1.0', '1.2.0rc1']);
});

test('what pip says is read: versions, those taken back, and why there are none', () => {
  const said = (versions: string): string =>
    `ERROR: Could not find a version that satisfies the requirement mcp<0 (from versions: ${versions})\nERROR: No matching distribution found for mcp<0\n`;
  assert.deepEqual(parsePublished('mcp', said('1.0.0, 1.2.0rc1, 2.0.0')), {
    versions: ['1.0.0', '1.2.0rc1', '2.0.0'],
    yanked: new Set(),
  });
  assert.deepEqual(
    parsePublished('mcp', `ERROR: Ignored the following yanked versions: 1.1.0, 1.3.0\n${said('1.0.0')}`),
    { versions: ['1.0.0', '1.1.0', '1.3.0'], yanked: new Set(['1.1.0', '1.3.0']) },
  );
  const failing: [string, RegExp][] = [
    [said('none'), /does not have mcp/],
    [`WARNING: Retrying … NewConnectionError(…)\n${said('none')}`, /index does not answer/],
    ['ERROR: something unheard of', /“something unheard of”/],
    ['', /“no output”/],
  ];
  for (const [output, expected] of failing)
    assert.throws(
      () => parsePublished('mcp', output),
      (error) =>
        error instanceof TargetError && expected.test(error.message) && !error.message.includes('\n'),
    );
});

test("uv's own index is handed on to pip", () => {
  assert.deepEqual(indexSettingsForPip({ PIP_INDEX_URL: 'http://pip.example/simple' }), {});
  assert.deepEqual(
    indexSettingsForPip({
      UV_DEFAULT_INDEX: 'company=https://a.example/simple',
      UV_INDEX: 'https://b.example/simple more=https://c.example/simple',
      UV_INSECURE_HOST: 'a.example',
      SSL_CERT_FILE: '/ca.pem',
    }),
    {
      PIP_INDEX_URL: 'https://a.example/simple',
      PIP_EXTRA_INDEX_URL: 'https://b.example/simple https://c.example/simple',
      PIP_TRUSTED_HOST: 'a.example',
      PIP_CERT: '/ca.pem',
    },
  );
  // pip's further indexes are none of uv's.
  assert.equal(indexSettingsForPip({ UV_INDEX_URL: 'https://a.example/simple' }).PIP_EXTRA_INDEX_URL, '');
});
