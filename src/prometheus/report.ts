/** From a run's series to the report that a recording gives as well. */
import { CASES } from '../cases/index.ts';
import * as catalogue from '../metrics/catalogue.ts';
import { DEFAULT_IDLE_MAX_SECONDS } from '../ledger/ledger.ts';
import { TOOL } from '../version.ts';
import { allowancesIn, verdictOf } from '../verdict/allowances.ts';
import { CLAIMS } from '../verdict/claims/index.ts';
import { unmeasured, type Finding } from '../verdict/finding.ts';
import {
  REPORT_SCHEMA,
  type BuildReport,
  type CaseReport,
  type ClaimReport,
  type Report,
} from '../verdict/schema.ts';
import { EVERY_TARGET, OF_CASE, RETENTION_SAYS } from './claims.ts';
import type { Judge, Known } from './known.ts';
import { LoadSide } from './load-side.ts';
import { memoryOf } from './memory.ts';
import { cutOf } from './parts.ts';
import type { RunSeries } from './read.ts';
import { retentionOf } from './retention.ts';
import { ServerSide } from './server-side.ts';
import { intervalOf } from './series.ts';

export interface ReportOptions {
  readonly run: string;
  /** As it may be shown. */
  readonly prometheus: string;
  readonly policy: Known['policy'];
  /** Failures that the configuration allows: claim → reason. */
  readonly allow: Readonly<Record<string, string>>;
}

/** The row of what the target does as a whole, where several cases were played on it at once. */
const TOGETHER = 'together';

const NOT_TOLD =
  'The series do not tell it: the load side’s own report does (mcp-retention check, or the summary of the k6 script).';

export function reportOf(read: RunSeries, options: ReportOptions): Report {
  const names = [...new Set(read.load.map(({ labels }) => labels.target ?? ''))]
    .filter((name) => name !== '')
    .sort();
  const targets = names.map((name) => knownOf(name, read, options));
  const builds = targets.map((known) => buildOf(known, options));
  const allowances = allowancesIn(options.allow, builds);
  const complete = !read.cutAtStart && targets.every(({ load }) => !load.isCut);
  const begin = Math.min(...targets.map(({ load }) => load.first));
  return {
    schema: REPORT_SCHEMA,
    tool: TOOL,
    host: { prometheus: options.prometheus, run: options.run, from: iso(read.from), to: iso(read.to) },
    startedAt: iso(begin),
    complete,
    notices: targets.flatMap((known) => noticesOf(known, read)),
    builds,
    allowances,
    comparison: null,
    timeline: null,
    verdict: verdictOf(builds, allowances, complete),
  };
}

function knownOf(target: string, read: RunSeries, { policy }: ReportOptions): Known {
  const load = new LoadSide(target, read.load);
  const server = new ServerSide(target, read.servers);
  const idleSeconds = policy.idleMaxSeconds ?? server.idleTimeout ?? DEFAULT_IDLE_MAX_SECONDS;
  const retention = retentionOf(load, server, { longestScrape: read.longestScrape, idleSeconds });
  return { load, server, retention, alone: load.cases.length === 1, policy };
}

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();

function buildOf(known: Known, options: ReportOptions): BuildReport {
  const { load, server } = known;
  const build = server.builds[0] ?? load.builds[0] ?? load.target;
  // What is no case of ours has no claims of its own: a script's preparations, for example.
  const labels = load.cases.filter((label) => known.alone || caseIdOf(label) in OF_CASE);
  const rows = labels.map((label) => caseOf(known, label, options));
  const whole = known.alone ? [] : [together(known, options)];
  return {
    name: build === load.target ? build : `${build} at ${load.target}`,
    kind: 'prometheus',
    sdk: server.sdk?.name ?? null,
    version: server.sdk?.version ?? null,
    config: { workers: server.workers.length, managers: server.managers.length },
    packages: {},
    cases: [...whole, ...rows].sort((a, b) => orderOf(a.id) - orderOf(b.id)),
  };
}

const orderOf = (id: string): number => CASES.findIndex((known) => known.id === id);

/** The label's case: the mixed load names one of them otherwise than the file of cases. */
const caseIdOf = (label: string): string => (label === 'keep-alive' ? 'keepalive' : label);

function caseOf(known: Known, label: string, options: ReportOptions): CaseReport {
  const id = caseIdOf(label);
  const definition = CASES.find((one) => one.id === id);
  const told = { ...OF_CASE[id], ...(known.alone && EVERY_TARGET) };
  const untold = (definition?.claims ?? []).filter((claim) => !(claim in told) && !(claim in EVERY_TARGET));
  const claims = [
    ...Object.entries(told).map(([claim, judge]) => judged(claim, judge, known, label, options)),
    ...untold.map((claim) => claimReport(claim, unmeasured(NOT_TOLD), false, options)),
  ];
  return {
    ...shape(id, definition?.title ?? label, claims, known),
    ledger: ledgerOf(known.load, { case: label }),
    requests: requestsOf(known.load, label),
    ...(known.alone ? wholeOf(known) : { sessions: null, memory: NO_MEMORY }),
  };
}

/** What only all cases together show: registry and memory are the target's, whichever case a session was of. */
function together(known: Known, options: ReportOptions): CaseReport {
  const claims = Object.entries(EVERY_TARGET).map(([claim, judge]) =>
    judged(claim, judge, known, '', options),
  );
  return {
    ...shape(TOGETHER, 'All cases of the run together', claims, known),
    ledger: ledgerOf(known.load, {}),
    requests: { completed: 0, broken: 0, perSecond: null },
    ...wholeOf(known),
  };
}

function judged(
  claim: string,
  judge: Judge,
  known: Known,
  label: string,
  options: ReportOptions,
): ClaimReport {
  return claimReport(claim, judge(known, label), true, options);
}

function claimReport(id: string, finding: Finding, promised: boolean, { allow }: ReportOptions): ClaimReport {
  const { status, expected, observed, reason } = finding;
  return {
    id,
    says: CLAIMS.get(id)?.says ?? RETENTION_SAYS,
    status,
    promised: promised && finding.withdrawn !== true,
    expected,
    observed,
    reason,
    allowed: status === 'fail' && Object.hasOwn(allow, id) ? (allow[id] ?? null) : null,
  };
}

function shape(
  id: string,
  title: string,
  claims: readonly ClaimReport[],
  { server, load, retention }: Known,
): Pick<CaseReport, 'id' | 'title' | 'status' | 'reason' | 'settings' | 'size' | 'claims'> {
  const promised = claims.filter((claim) => claim.promised);
  const failed = promised.find(({ status }) => status === 'fail');
  const open =
    promised.find(({ status }) => status === 'unmeasured') ?? (promised.length === 0 ? claims[0] : undefined);
  return {
    id,
    title,
    status: failed ? 'fail' : open ? 'unmeasured' : 'pass',
    reason: (failed ?? open)?.reason ?? '',
    settings: {
      ...(server.managers.length > 0 && {
        idleTimeoutSeconds: server.idleTimeout,
        maxSessions: server.limit,
      }),
      policyIdleSeconds: retention.policy.idle,
    },
    size: { sessions: load.final(catalogue.clientOpened), warmUp: 0, concurrency: 0 },
    claims: [...claims],
  };
}

const ledgerOf = (load: LoadSide, matching: Readonly<Record<string, string>>): CaseReport['ledger'] => ({
  opened: load.final(catalogue.clientOpened, matching),
  deleted: load.final(catalogue.clientDeleted, matching),
  abandoned: load.final(catalogue.clientAbandoned, matching),
  refused: load.final(catalogue.clientRefused, matching),
  uncertain: load.final(catalogue.clientUncertain, matching),
});

function requestsOf(load: LoadSide, label: string): CaseReport['requests'] {
  const broken = load.answers('0', { case: label });
  const completed = load.answers('', { case: label }) - broken;
  const seconds = load.last - load.first;
  return { completed, broken, perSecond: seconds > 0 ? Math.round((completed / seconds) * 10) / 10 : null };
}

const NO_MEMORY: CaseReport['memory'] = {
  startBytes: null,
  endBytes: null,
  peakBytes: null,
  kibPerSession: null,
  limitBytes: null,
  capacity: null,
};

function wholeOf(known: Known): Pick<CaseReport, 'sessions' | 'memory'> {
  const { load, server, retention } = known;
  return { sessions: sessionsOf(known), memory: memoryOf(server, retention.begin, load.last) };
}

/** At the last moment at rest; without one, by the last scrape and what is proven to be kept. */
function sessionsOf({ load, server, retention }: Known): CaseReport['sessions'] {
  const { resting, kept, baseline, begin } = retention;
  const last = server.readingFrom((server.times.at(-1) ?? 0) - 2 * (server.interval ?? 0));
  const counts = resting?.counts ?? last?.counts;
  if (counts === undefined || baseline === null) return null;
  const { readings, broken } = server.identity(begin, resting?.at ?? Infinity);
  const proven = resting?.drift ?? Math.max(kept.all, kept.unopened);
  const rightly = Math.max(0, counts.registered - Math.max(0, proven));
  return {
    registered: counts.registered,
    expected: resting?.expected ?? { min: 0, max: rightly },
    retentionDrift: proven,
    identityDrift: broken.reduce((most, drift) => (Math.abs(drift) > Math.abs(most) ? drift : most), 0),
    remnants: counts.remnants,
    samples: readings,
    detectionFloor: load.final(catalogue.clientOpened) + load.final(catalogue.clientRefused),
  };
}

function noticesOf({ load, server, retention }: Known, read: RunSeries): Report['notices'] {
  const build = load.target;
  const interval = server.interval ?? intervalOf(load.of(catalogue.clientOpened));
  const { resting } = retention;
  const texts = [
    interval === null
      ? null
      : `Sampled every ${Math.round(interval * 10) / 10} s; samples closer than ${Math.round(retention.skew * 10) / 10} s are not put in order.`,
    read.cutAtStart ? 'The run began before what was looked at: give a longer --window.' : null,
    cutOf(load),
    resting === null
      ? null
      : `During the run ${resting.gained.expirations} sessions expired and ${resting.gained.rejections} openings were refused because of the cap, by the server's own count.`,
  ];
  return texts.flatMap((text) => (text === null ? [] : [{ build, case: null, text }]));
}
