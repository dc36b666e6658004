/** What a reader of a comparison sees first, and that Markdown stays within what a comment takes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { verdictText } from '../../src/report/comparison-words.ts';
import { markdownReport } from '../../src/report/markdown.ts';
import { MOST_CHARACTERS } from '../../src/report/markdown-fit.ts';
import { terminalReport } from '../../src/report/terminal.ts';
import type { Report } from '../../src/verdict/schema.ts';
import {
  buildOf,
  caseOf,
  changeOf,
  claimOf,
  comparedOf,
  measureOf,
  performanceOf,
  poisoned,
  reportOf,
} from '../support/reports.ts';

const ALLOWED = 'A worker recycles.';
const CHANGES = [
  changeOf('delete.accepted', 'same'),
  changeOf('delete.reopens', 'fixed'),
  changeOf('abandon.bounded', 'regressed', { allowed: ALLOWED }),
  changeOf('reject.refused', 'unmeasured'),
  changeOf('delete.deregisters', 'regressed'),
];
const SPEED = performanceOf([measureOf('calls-p50'), measureOf('calls-p99', { decision: 'shown' })], {
  obstacle: 'The load side was the bottleneck.',
});
const compared = comparedOf(
  CHANGES,
  'fail',
  { performance: SPEED },
  {
    allowances: [
      { claim: 'abandon.bounded', reason: ALLOWED, stale: false },
      { claim: 'over-cap.exact', reason: 'Long ago.', stale: true },
      { claim: 'keepalive.expires-after', reason: 'Never played.', stale: false },
    ],
  },
);

const onTerminal = (report: Report): string => terminalReport(report, { color: false, columns: 120 });
const inMarkdown = (report: Report): string =>
  markdownReport(report)
    .replaceAll('\u2060', '')
    .replace(/\\([_.+-])/g, '$1');
const forms: [string, (report: Report) => string][] = [
  ['terminal', onTerminal],
  ['Markdown', inMarkdown],
];

/** Every text stands there, and in this order. */
function inOrder(text: string, wanted: readonly string[]): void {
  let from = 0;
  for (const one of wanted) {
    const at = text.indexOf(one, from);
    assert.ok(at >= 0, `${one} is not there, or not after what should precede it, in\n${text}`);
    from = at + one.length;
  }
}

describe('a comparison', () => {
  for (const [name, form] of forms) {
    const text = form(compared);

    test(`${name}: what got worse stands first, what is the same is only counted`, () => {
      inOrder(text, [
        '1 regressed',
        'delete.deregisters',
        'reject.refused',
        'abandon.bounded',
        'delete.reopens',
        'Registered sessions',
      ]);
      assert.ok(!text.includes('delete.accepted'));
      assert.match(text, /1 passing in both/);
    });

    test(`${name}: an allowed regression is marked and has its reason, and is no pass`, () => {
      assert.match(text, /[!⚠]\S* regressed, allowed/);
      assert.match(text, new RegExp(`Allowed: ${ALLOWED}`));
      assert.match(text, /[!⚠]\S* 400 kept(\s|<br>|│)+bounded \(allowed\)/);
    });

    test(`${name}: allowances are used, stale or not needed`, () => {
      inOrder(text, ['its failure is allowed', 'stale: it fails nowhere', 'not needed here']);
    });

    test(`${name}: speed, what hindered it, what differs, and the detection floor`, () => {
      assert.match(text, /1\.25 ms.*1\.5 ms.*\+20\.0 % \(\+17\.0 to \+24\.0\).*worse/);
      assert.match(text, /The load side was the bottleneck\./);
      assert.match(text, /mcp.*1\.30\.0.*1\.29\.1/);
      assert.match(text, /1 session kept in 400 would have been seen/);
    });
  }

  test('a recording as the baseline is said to be one', () => {
    const { host, tool, startedAt } = compared;
    const { os, arch, cpus, memoryBytes, node } = host as {
      os: string;
      arch: string;
      cpus: number;
      memoryBytes: number;
      node: string;
    };
    const baseline = {
      tool,
      startedAt,
      seed: 7,
      host: { os, arch, cpus, memoryBytes, node },
      policy: { idleMaxSeconds: null, maxSessions: null },
    };
    const report = comparedOf(CHANGES, 'fail', { origins: { baseline, candidate: null } });
    for (const [, form] of forms)
      assert.match(
        form(report),
        /The baseline is a recording of 2026-11-30T18:02:37\.127Z by mcp-retention 0\.1\.0, seed 7, on linux/,
      );
  });
});

describe('the verdict in a sentence', () => {
  const worse = performanceOf([measureOf('calls-p50', { title: 'Median latency' })], { decides: true });
  const open = performanceOf([measureOf('calls-p50', { title: 'Median latency', decision: 'undecided' })], {
    decides: true,
  });
  const stale = { allowances: [{ claim: 'x.y', reason: 'old', stale: true }] };
  const same = [changeOf('delete.accepted', 'same')];
  const failing = (allowed: string | null): Report['builds'] => [
    buildOf('a', [caseOf('abandon', [claimOf('abandon.bounded', { status: 'fail', allowed })])]),
  ];
  const sentences: [string, Report][] = [
    ['Nothing got worse.', comparedOf(same, 'pass')],
    ['The candidate got worse: 1 claim regressed; 1 allowance is stale.', compared],
    [
      'The candidate got worse: Median latency: +20.0 % (+17.0 to +24.0).',
      comparedOf(same, 'fail', { performance: worse }),
    ],
    [
      'No claim regressed, but 1 allowance is stale: the failure that it allows does not happen.',
      comparedOf(same, 'fail', {}, stale),
    ],
    [
      'Undecided: of 1 claim it cannot be told whether it got worse.',
      comparedOf(CHANGES.slice(3, 4), 'inconclusive'),
    ],
    [
      'Undecided: Median latency cannot be told within the time given.',
      comparedOf(same, 'inconclusive', { performance: open }),
    ],
    [
      'Undecided: speed cannot be told: The load side was the bottleneck.',
      comparedOf(same, 'inconclusive', {
        performance: { ...open, obstacle: 'The load side was the bottleneck.' },
      }),
    ],
    [
      'Undecided: what is there shows nothing that got worse. The run was not played to its end.',
      comparedOf(same, 'inconclusive', {}, { complete: false }),
    ],
    ['Every promised claim passed.', reportOf([])],
    ['A promised claim failed.', reportOf(failing(null), { verdict: 'fail' })],
    ['Every promised claim passed or has an allowance: 1 failure is allowed.', reportOf(failing(ALLOWED))],
    [
      '1 allowance is stale: the failure that it allows does not happen.',
      reportOf([], { verdict: 'fail', ...stale }),
    ],
    ['Undecided: a promised claim could not be measured.', reportOf([], { verdict: 'inconclusive' })],
  ];
  for (const [sentence, report] of sentences)
    test(sentence, () => {
      assert.equal(verdictText(report), sentence);
      for (const [name, form] of forms) assert.ok(form(report).includes(sentence), name);
    });
});

test('the detection floor is said in every report, also where nothing was counted', () => {
  const claims = [claimOf('keepalive.stream-survives')];
  const counted = reportOf([buildOf('a', [caseOf('keepalive', claims)])]);
  const blind = reportOf([buildOf('a', [caseOf('delete', claims, { sessions: null })])]);
  for (const [, form] of forms) {
    assert.match(form(counted), /1 session kept in 400 would have been seen/);
    for (const report of [blind, reportOf([])]) assert.match(form(report), /there is no detection floor/);
  }
});

describe('Markdown fits a comment', () => {
  const reason =
    'This is what went wrong in this build, told at the length of a sentence that has to explain it.';
  const ids = Array.from({ length: 50 }, (_, i) => `case-${i % 10}.claim-${i}`);
  const failed = (build: string): Report['builds'][number] =>
    buildOf(
      build,
      Array.from({ length: 10 }, (_, i) =>
        caseOf(
          `case-${i}`,
          ids
            .filter((id) => id.startsWith(`case-${i}.`))
            .map((id) => claimOf(id, { status: 'fail', reason: `${build}: ${reason}` })),
        ),
      ),
    );
  const builds = Array.from({ length: 200 }, (_, i) => failed(`python:mcp@1.${i}.0`));

  test('with 50 failed claims in 200 builds, and says what it left out', () => {
    const text = markdownReport(reportOf(builds, { verdict: 'fail' }));
    assert.ok(text.length <= MOST_CHARACTERS, String(text.length));
    inOrder(text, [
      '## MCP session retention: fail',
      'A promised claim failed',
      '1 session kept in 400',
      'Failed claims',
      'Registered sessions',
      'Left out here for want of room: ',
      '`report.json`',
      '<sub>',
    ]);
    assert.match(text, /\d+ of 34 tables of registered sessions/);
  });

  test('with 50 regressions: every one of them is there', () => {
    const changes = ids.map((id) => changeOf(id, 'regressed', { reason }));
    const text = markdownReport(comparedOf(changes, 'fail'));
    assert.ok(text.length <= MOST_CHARACTERS, String(text.length));
    for (const id of ids) assert.ok(text.includes(`\`${id}\``), id);
  });

  test('with any text in it, however long', () => {
    const long = fc
      .constantFrom('&', '@a', '|', '`', 'x', '\u{1f600}', '<')
      .map((text) => text.repeat(20_000));
    fc.assert(
      fc.property(fc.oneof(long, fc.string({ unit: 'binary' })), (text) => {
        for (const report of [compared, reportOf(builds.slice(0, 20), { verdict: 'fail' })]) {
          const written = markdownReport(poisoned(report, text));
          assert.ok(written.length <= MOST_CHARACTERS, String(written.length));
          assert.match(written, /^## MCP session retention: fail\n/);
        }
      }),
      { numRuns: 20 },
    );
  });
});
