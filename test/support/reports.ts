/** Reports made by hand, for what turns them into text. */
import { REPORT_SCHEMA } from '../../src/verdict/schema.ts';
import type {
  BuildReport,
  CaseReport,
  ChangeReport,
  ClaimReport,
  ComparisonReport,
  PerformanceReport,
  Report,
} from '../../src/verdict/schema.ts';

type Measure = PerformanceReport['measures'][number];

export function claimOf(id: string, fields: Partial<ClaimReport> = {}): ClaimReport {
  const failed = fields.status === 'fail';
  return {
    id,
    says: `What ${id} says.`,
    status: 'pass',
    promised: true,
    expected: '0 registered',
    observed: failed ? '400 registered' : '0 registered',
    reason: (fields.status ?? 'pass') === 'pass' ? '' : `Why ${id} did not pass.`,
    allowed: null,
    ...fields,
  };
}

export function caseOf(
  id: string,
  claims: readonly ClaimReport[],
  fields: Partial<CaseReport> = {},
): CaseReport {
  const failed = claims.find((claim) => claim.promised && claim.status === 'fail');
  const kept = failed ? 400 : 0;
  return {
    id,
    title: `Title of ${id}`,
    status: failed ? 'fail' : 'pass',
    reason: failed?.reason ?? '',
    settings: { idleTimeoutSeconds: 1800 },
    size: { sessions: 300, warmUp: 100, concurrency: 8 },
    claims: [...claims],
    ledger: { opened: 400, deleted: 400, abandoned: 0, refused: 0, uncertain: 0 },
    sessions: {
      registered: kept,
      expected: { min: 0, max: 0 },
      retentionDrift: kept,
      identityDrift: 0,
      remnants: kept,
      samples: 12,
      detectionFloor: 400,
    },
    memory: {
      startBytes: 60 * 1024 ** 2,
      endBytes: 64 * 1024 ** 2,
      peakBytes: 64 * 1024 ** 2,
      kibPerSession: { estimate: 4.6, low: 3.9, high: 5.1 },
      limitBytes: null,
      capacity: null,
    },
    requests: { completed: 1200, broken: 0, perSecond: 250.5 },
    ...fields,
  };
}

export const buildOf = (
  name: string,
  cases: readonly CaseReport[],
  fields: Partial<BuildReport> = {},
): BuildReport => ({
  name,
  kind: 'python',
  sdk: 'mcp',
  version: name.replace(/^.*@/, ''),
  config: {},
  packages: { python: '3.11.7', mcp: name.replace(/^.*@/, '') },
  cases: [...cases],
  ...fields,
});

export const reportOf = (builds: readonly BuildReport[], fields: Partial<Report> = {}): Report => ({
  schema: REPORT_SCHEMA,
  tool: { name: 'mcp-retention', version: '0.1.0' },
  host: { os: 'linux 6.1.0', arch: 'x64', cpus: 2, memoryBytes: 25_276_514_304, node: 'v20.20.2' },
  startedAt: '2026-11-30T18:02:37.127Z',
  complete: true,
  notices: [],
  builds: [...builds],
  allowances: [],
  comparison: null,
  timeline: null,
  verdict: 'pass',
  ...fields,
});

export const BASELINE = 'python:mcp@1.30.0';
export const CANDIDATE = 'python:mcp@1.29.1';

export function changeOf(
  claim: string,
  change: ChangeReport['change'],
  fields: Partial<ChangeReport> = {},
): ChangeReport {
  const [before, after] = {
    fixed: ['fail', 'pass'],
    regressed: ['pass', 'fail'],
    same: ['pass', 'pass'],
    unmeasured: ['pass', 'unmeasured'],
  }[change] as [ClaimReport['status'], ClaimReport['status']];
  const observed = (status: ClaimReport['status']): string =>
    ({ pass: '0 registered', fail: '400 registered', unmeasured: '' })[status];
  return {
    case: claim.replace(/\..*/, ''),
    claim,
    says: `What ${claim} says.`,
    change,
    baseline: { status: before, observed: observed(before) },
    candidate: { status: after, observed: observed(after) },
    reason: change === 'same' ? '' : `Why ${claim} is ${change}.`,
    open: change === 'unmeasured',
    allowed: null,
    ...fields,
  };
}

export const measureOf = (id: Measure['id'], fields: Partial<Measure> = {}): Measure => ({
  id,
  title: `Title of ${id}`,
  unit: 'ms',
  baseline: 1.25,
  candidate: 1.5,
  change: { estimate: 0.2, low: 0.17, high: 0.24 },
  decision: 'worse',
  mayFail: true,
  ...fields,
});

export const performanceOf = (
  measures: readonly Measure[],
  fields: Partial<PerformanceReport> = {},
): PerformanceReport => ({
  blocks: 6,
  smallestEffect: 0.1,
  decides: false,
  obstacle: null,
  measures: [...measures],
  ...fields,
});

/** Of two builds with the statuses that the changes tell. */
export function comparedOf(
  changes: readonly ChangeReport[],
  verdict: Report['verdict'],
  comparison: Partial<ComparisonReport> = {},
  fields: Partial<Report> = {},
): Report {
  const build = (name: string, side: 'baseline' | 'candidate'): BuildReport => {
    const ids = [...new Set(changes.map((one) => one.case))];
    const cases = ids.map((id) => caseOf(id, claimsOf(changes, id, side)));
    return buildOf(name, cases);
  };
  return reportOf([build(BASELINE, 'baseline'), build(CANDIDATE, 'candidate')], {
    verdict,
    comparison: {
      baseline: BASELINE,
      candidate: CANDIDATE,
      origins: { baseline: null, candidate: null },
      changes: [...changes],
      differences: [{ name: 'mcp', baseline: '1.30.0', candidate: '1.29.1' }],
      performance: null,
      ...comparison,
    },
    ...fields,
  });
}

const claimsOf = (
  changes: readonly ChangeReport[],
  id: string,
  side: 'baseline' | 'candidate',
): ClaimReport[] =>
  changes
    .filter((one) => one.case === id)
    .map((one) => {
      const { status, observed } = one[side];
      const allowed = side === 'candidate' ? one.allowed : null;
      if (status === 'unasked') return claimOf(one.claim, { status: 'unmeasured', promised: false });
      return claimOf(one.claim, { status, observed, allowed });
    });

/** Names of fields whose text is one of a few words, or the name of the format. */
const WORDS = new Set(['schema', 'status', 'verdict', 'kind', 'change', 'decision', 'mode', 'state']);

/** The same report with every free text in it replaced, keys of records as well. */
export function poisoned(report: Report, text: string): Report {
  const free = (value: unknown, field: string, parent: string): unknown => {
    if (typeof value === 'string')
      return WORDS.has(field) || (field === 'id' && parent === 'measures') ? value : text;
    if (Array.isArray(value)) return value.map((one) => free(one, field, field));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        isRecord(field) ? `${text}${name}` : name,
        free(inner, name, parent),
      ]),
    );
  };
  return free(report, '', '') as Report;
}

const isRecord = (field: string): boolean => ['packages', 'config', 'host', 'settings'].includes(field);
