/** k6's summary as the report of `mcp-retention check`: the same schema, claims and words. */
import type { Size } from '../../src/cases/case.ts';
import {
  clientAbandoned,
  clientDeleted,
  clientOpened,
  clientRefused,
  clientRequests,
  clientUncertain,
} from '../../src/metrics/catalogue.ts';
import type { CaseReport, ClaimReport, Report } from '../../src/verdict/schema.ts';
import type { Told } from './around.ts';
import { ASKED, NO_ANSWER, ofClaim, ofReading } from './checks.ts';
import { claimsOf, type Findable, type Values } from './findings.ts';
import { junit } from './junit.ts';
import { BEGUN, BEYOND, FINISHED, IDENTITY, REGISTERED, REMNANTS } from './ledger.ts';

/** What k6 hands to handleSummary, as far as it is read here. */
export interface SummaryData {
  readonly metrics: Readonly<
    Record<string, { readonly values: Readonly<Record<string, number>> } | undefined>
  >;
  readonly setup_data?: Told | null;
  readonly state: { readonly testRunDurationMs: number };
}

export interface Summarized extends Findable {
  readonly size: Size;
  /** How long the load lasts at least; 0 where a count ends it. */
  readonly lastsMs: number;
}

/** The files to write, by path, and the text for the terminal. */
export function summary(data: SummaryData, summarized: Summarized): Record<string, string> {
  const { json, junit: junitFile } = summarized.script.options;
  const report = reportOf(data, summarized);
  return {
    stdout: textOf(report),
    ...(json !== null && { [json]: `${JSON.stringify(report, null, 2)}\n` }),
    ...(junitFile !== null && { [junitFile]: junit(report) }),
  };
}

export function reportOf(data: SummaryData, summarized: Summarized): Report {
  const { options, id } = summarized.script;
  const values: Values = (metric, value = 'count') => data.metrics[metric]?.values[value] ?? 0;
  const claims = claimsOf(values, data.setup_data ?? null, summarized);
  const played = caseOf(values, data.setup_data ?? null, summarized, claims);
  const dropped = values('dropped_iterations');
  const complete = isComplete(data, values, summarized);
  const late = `${dropped} arrivals were left out because all virtual users were busy: give more of them in VUS.`;
  const notices = [...(dropped > 0 ? [late] : []), ...(complete || data.setup_data == null ? [] : [CUT])];
  const name = options.build === 'unknown' ? options.targetName : options.build;
  const config = {
    url: options.targetName.replace(/[?#].*$/s, ''),
    run: data.setup_data?.run ?? options.run,
    seed: options.seed,
  };
  return {
    schema: 'mcp-retention/report/v1',
    tool: { name: 'mcp-retention loadtests', version: 'k6' },
    host: {},
    startedAt: new Date(Date.now() - Math.round(data.state.testRunDurationMs)).toISOString(),
    complete,
    notices: notices.map((text) => ({ build: name, case: id, text })),
    builds: [{ name, kind: 'url', sdk: null, version: null, config, packages: {}, cases: [played] }],
    allowances: [],
    comparison: null,
    timeline: null,
    verdict: verdictOf(claims, complete),
  };
}

const CUT = 'The load was cut before its end: what is shown is of its first part.';

/** A clock that is read twice may differ by this much. */
const GRAIN_MS = 50;

function isComplete(data: SummaryData, values: Values, { lastsMs }: Summarized): boolean {
  const isPlayed = values(BEGUN) > 0 && values(BEGUN) === values(FINISHED);
  return data.setup_data != null && isPlayed && data.state.testRunDurationMs >= lastsMs - GRAIN_MS;
}

function verdictOf(claims: readonly ClaimReport[], complete: boolean): Report['verdict'] {
  const promised = claims.filter((claim) => claim.promised);
  if (promised.some((claim) => claim.status === 'fail')) return 'fail';
  return complete && promised.length > 0 && promised.every((claim) => claim.status === 'pass')
    ? 'pass'
    : 'inconclusive';
}

function caseOf(
  values: Values,
  told: Told | null,
  { script, size, readings }: Summarized,
  claims: ClaimReport[],
): CaseReport {
  const { idleTimeoutSeconds, maxSessions } = told?.settings ?? script.settings;
  const ledger = ledgerOf(values);
  return {
    id: script.id,
    title: script.title,
    ...statusOf(claims),
    settings: {
      ...(idleTimeoutSeconds !== undefined && { idleTimeoutSeconds }),
      ...(maxSessions !== undefined && { maxSessions }),
    },
    size,
    claims,
    ledger,
    sessions: sessionsOf(values, readings, ledger.opened + ledger.refused),
    memory: NO_MEMORY,
    requests: {
      completed: values(clientRequests.name) - values(NO_ANSWER),
      broken: values(NO_ANSWER),
      perSecond: null,
    },
  };
}

/** k6 sees nothing of the server's process. */
const NO_MEMORY: CaseReport['memory'] = {
  startBytes: null,
  endBytes: null,
  peakBytes: null,
  kibPerSession: null,
  limitBytes: null,
  capacity: null,
};

const ledgerOf = (values: Values): CaseReport['ledger'] => ({
  opened: values(clientOpened.name),
  deleted: values(clientDeleted.name),
  abandoned: values(clientAbandoned.name),
  refused: values(clientRefused.name),
  uncertain: values(clientUncertain.name),
});

function statusOf(claims: readonly ClaimReport[]): Pick<CaseReport, 'status' | 'reason'> {
  const promised = claims.filter((claim) => claim.promised);
  const deciding =
    promised.find((claim) => claim.status === 'fail') ??
    promised.find((claim) => claim.status === 'unmeasured') ??
    (promised.length === 0 ? claims[0] : undefined);
  return { status: deciding?.status ?? 'pass', reason: deciding?.reason ?? '' };
}

/** The reading that the case is judged by: the first, or what was read at the end. */
function sessionsOf(values: Values, readings: readonly string[], openings: number): CaseReport['sessions'] {
  const reading = readings.includes('expiry')
    ? 'expiry'
    : readings.includes('settle')
      ? 'settle'
      : readings[0];
  if (reading === undefined || values(ofClaim(ASKED, 'identity.holds')) === 0) return null;
  const registered = values(ofReading(REGISTERED, reading), 'value');
  const drift = values(ofReading(BEYOND, reading));
  return {
    registered,
    expected: { min: registered - drift, max: registered - drift },
    retentionDrift: drift,
    identityDrift: values(IDENTITY),
    remnants: values(ofReading(REMNANTS, reading), 'value'),
    samples: values(ofClaim(ASKED, 'identity.holds')),
    detectionFloor: openings,
  };
}

const MARK = { pass: '✓', fail: '✗', unmeasured: '?' } as const;

function textOf(report: Report): string {
  const [build] = report.builds;
  const [played] = build?.cases ?? [];
  if (build === undefined || played === undefined) return '';
  const lines = played.claims.map((claim) => {
    const mark = claim.promised ? MARK[claim.status] : '·';
    return `  ${mark} ${claim.id}  ${claim.status === 'pass' ? claim.observed : claim.reason}`;
  });
  const { opened, deleted, abandoned, refused, uncertain } = played.ledger;
  const ledger = `${opened} opened, ${deleted} deleted, ${abandoned} abandoned, ${refused} refused, ${uncertain} uncertain`;
  const notices = report.notices.map(({ text }) => `  ! ${text}`);
  return [
    '',
    `${played.id} on ${build.name}: ${report.verdict}`,
    ...lines,
    ...notices,
    `  ${ledger}`,
    '',
    '',
  ].join('\n');
}
