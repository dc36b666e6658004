/**
 * The load scripts against the affected and the patched build: by a real k6 where K6_BIN or the PATH has one, and some
 * of them also by the stand-in. The server's own counts are what the ledger says.
 */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { measure, statuses } from '../support/measure.ts';
import { K6, k6Version, ranBy, type Runner } from '../support/k6/run.ts';
import { environmentOf, SCRIPTED } from '../support/k6/scripts.ts';
import { served } from '../support/k6/served.ts';

const SESSIONS = 24;
const AFFECTED = 'python:mcp@1.29.1';
const PATCHED = 'python:mcp@1.30.0';

/** What must fail on the affected build, by script. */
const FAILS: Readonly<Record<string, readonly string[]>> = {
  delete: ['delete.deregisters'],
  'delete-expiry': ['delete-expiry.reclaimed'],
  abandon: ['abandon.bounded'],
  'abandon-expiry': [],
  reject: ['reject.registers-nothing', 'reject.id-unusable'],
  'over-cap': ['over-cap.refuses'],
  keepalive: ['keepalive.stream-survives', 'keepalive.call-completes'],
  mixed: ['delete.deregisters'],
  soak: ['delete.deregisters'],
};

/** Those that are also compared claim by claim with our own run. */
const COMPARED = ['delete', 'reject', 'over-cap'];
/** Enough to see that the stand-in does as k6 does. */
const BY_STAND_IN = ['delete', 'over-cap', 'keepalive'];

const SCRIPTS = [
  ...SCRIPTED.map((definition) => ({
    id: definition.id,
    settings: definition.settings,
    env: { SESSIONS: String(SESSIONS), ...environmentOf(definition) },
  })),
  ...['mixed', 'soak'].map((id) => ({ id, settings: {}, env: { RATE: '10', SESSIONS: '40' } })),
];

for (const runner of ['k6', 'stand-in'] as const satisfies readonly Runner[]) {
  const skip = runner === 'k6' && K6 === null && 'no k6 (K6_BIN)';
  const scripts = SCRIPTS.filter(({ id }) => runner === 'k6' || BY_STAND_IN.includes(id));
  describe(runner === 'k6' ? k6Version() : runner, { skip }, () => {
    for (const build of [AFFECTED, PATCHED])
      for (const script of scripts) test(`${script.id} on ${build}`, (t) => check(t, runner, build, script));
  });
}

async function check(
  t: TestContext,
  runner: Runner,
  build: string,
  { id, settings, env }: (typeof SCRIPTS)[number],
): Promise<void> {
  const { url, metrics, counts } = await served(t, build, settings);
  const ran = await ranBy(runner, id, { TARGET: url, METRICS: metrics, BUILD: build, ...env });
  assert.ok(ran.report && ran.played, ran.stderr);
  const affected = build === AFFECTED;
  const failed = ran.played.claims.filter(({ status }) => status === 'fail').map((claim) => claim.id);
  const fails = affected ? (FAILS[id] ?? []) : [];
  assert.deepEqual(failed.sort(), [...fails].sort(), ran.stderr);
  const verdict = fails.length > 0 ? 'fail' : 'pass';
  assert.deepEqual([ran.report.verdict, ran.code], [verdict, verdict === 'pass' ? 0 : 99], ran.stdout);

  const { opened, deleted, abandoned, refused, uncertain } = ran.played.ledger;
  const server = await counts();
  const { registered, registrations, removals, expirations, rejections } = server;
  assert.equal(uncertain, 0, ran.stderr);
  t.diagnostic(
    JSON.stringify({ ledger: ran.played.ledger, server: { registered, registrations, removals } }),
  );
  // A refused opening may pass through the registry, and is no session of the ledger.
  const passing = registrations - opened;
  assert.ok(passing >= 0 && passing <= refused - rejections, JSON.stringify(ran.played.ledger));
  if (id !== 'reject' && id !== 'mixed' && id !== 'soak') assert.equal(passing, 0);
  if (id === 'over-cap') assert.equal(rejections, affected ? 0 : refused);
  const gone = expirations + (affected ? 0 : deleted + passing);
  assert.equal(removals, gone);
  assert.equal(registered, registrations - gone);
  if (expirations > 0) assert.equal(expirations, abandoned);
  if (!affected && id === 'delete') assert.equal(registered, 0);

  if (!COMPARED.includes(id)) return;
  const own = await measure(build, { cases: [id], sessions: SESSIONS });
  assert.deepEqual([...statuses(ran.report)], [...statuses(own.report)]);
}
