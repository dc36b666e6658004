/** Figures and sentences as people read them. */
import { decides } from '../verdict/allowances.ts';
import type { BuildReport, CaseReport, ClaimReport, Report } from '../verdict/schema.ts';

export const mib = (bytes: number | null): string =>
  bytes === null ? '–' : (bytes / 1024 / 1024).toFixed(0);

const gib = (bytes: number): string =>
  bytes < 1024 ** 3 ? `${mib(bytes)} MiB` : `${(bytes / 1024 ** 3).toFixed(1)} GiB`;

export const thousands = (value: number): string => value.toLocaleString('en-US');

/** `400 kept`, `0 kept, 400 open`, `5 lost`: registered sessions, parted into wrongly and rightly there. */
export function sessionsText({ sessions }: CaseReport): string {
  if (!sessions) return 'not counted';
  const { registered, retentionDrift } = sessions;
  const open = registered - Math.max(0, retentionDrift);
  const wrong =
    retentionDrift < 0 ? `${thousands(-retentionDrift)} lost` : `${thousands(retentionDrift)} kept`;
  return open > 0 ? `${wrong}, ${thousands(open)} open` : wrong;
}

/** Claim ids without their case: `deregisters`, `bounded (allowed)`. */
export function failedClaims(report: CaseReport): string[] {
  return report.claims
    .filter((claim) => claim.promised && claim.status === 'fail')
    .map((claim) => claim.id.replace(`${report.id}.`, '') + (claim.allowed === null ? '' : ' (allowed)'));
}

/** A case whose failures are all allowed is neither passed nor failed. */
export function caseMark(report: CaseReport): CaseReport['status'] | 'allowed' {
  return report.status === 'fail' && !report.claims.some(decides) ? 'allowed' : report.status;
}

export function kibText(report: CaseReport): string {
  const kib = report.memory.kibPerSession;
  if (!kib) return '–';
  return `${kib.estimate.toFixed(1)} (${kib.low.toFixed(1)}–${kib.high.toFixed(1)})`;
}

/** `10,000 × 330 KiB per session = 3.1 GiB, against a memory limit of 2.0 GiB`. */
export function capacityText(report: CaseReport): string | null {
  const { capacity, kibPerSession } = report.memory;
  if (!capacity || !kibPerSession) return null;
  return (
    `cap ${thousands(capacity.sessionLimit)} × ${kibPerSession.estimate.toFixed(0)} KiB per session = ${gib(capacity.bytes)}, ` +
    `against a memory limit of ${gib(capacity.limitBytes)}: ${capacity.fits ? 'it fits' : 'it does not fit'}`
  );
}

export interface PlacedClaim {
  readonly build: string;
  readonly case: string;
  readonly claim: ClaimReport;
}

/** Claims of a kind over all builds and cases. */
export function claimsWhere(report: Report, wanted: (claim: ClaimReport) => boolean): PlacedClaim[] {
  return report.builds.flatMap((build) =>
    build.cases.flatMap((played) =>
      played.claims.filter(wanted).map((claim) => ({ build: build.name, case: played.id, claim })),
    ),
  );
}

/** `delete.accepted`, and the case besides where the claim is one of every case. */
export const claimName = ({ claim, case: id }: PlacedClaim): string =>
  claim.id.startsWith(`${id}.`) ? claim.id : `${claim.id} (${id})`;

/** Entries with the same key together, in the order in which keys came up. */
export function groupBy<T>(entries: readonly T[], key: (entry: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const entry of entries) groups.set(key(entry), [...(groups.get(key(entry)) ?? []), entry]);
  return groups;
}

/** Claims that share one reason. */
export interface SharedReason {
  /** `python:mcp@1.29.1, python:mcp@2.1.1` */
  readonly builds: readonly string[];
  readonly claims: readonly string[];
  readonly reason: string;
}

/** A failed claim with what it says and why it failed, where. */
export interface FailedClaim {
  readonly name: string;
  readonly says: string;
  /** Why the failure is allowed, or null. */
  readonly allowed: string | null;
  readonly reasons: readonly SharedReason[];
}

/** What failed; the failures that are allowed come last. */
export function failedByClaim(report: Report): FailedClaim[] {
  const failed = claimsWhere(report, (claim) => claim.promised && claim.status === 'fail');
  return [...groupBy(failed, claimName)]
    .map(([name, places]) => ({
      name,
      says: places[0]?.claim.says ?? '',
      allowed: places[0]?.claim.allowed ?? null,
      reasons: shared(places, ({ claim }) => claim.reason),
    }))
    .sort((a, b) => Number(a.allowed !== null) - Number(b.allowed !== null));
}

/** What was not measured; a reason that several claims and builds share is said once. */
export function unmeasuredByReason(report: Report): SharedReason[] {
  const open = claimsWhere(report, (claim) => claim.status === 'unmeasured');
  return shared(open, ({ claim }) => `${claim.reason}${claim.promised ? '' : ' (not promised)'}`);
}

const shared = (places: readonly PlacedClaim[], reasonOf: (place: PlacedClaim) => string): SharedReason[] =>
  [...groupBy(places, reasonOf)].map(([reason, same]) => ({
    reason,
    builds: [...new Set(same.map((place) => place.build))],
    claims: [...new Set(same.map(claimName))],
  }));

const MANY_BUILDS = 6;

/** The builds that share a reason; of many, the first few. */
export function namedBuilds({ builds }: SharedReason, show: (name: string) => string): string {
  const more = builds.length > MANY_BUILDS ? ` and ${builds.length - MANY_BUILDS} more builds` : '';
  return builds.slice(0, MANY_BUILDS).map(show).join(', ') + more;
}

const MANY_CLAIMS = 6;

/** The claims that share a reason; of many, the first few. */
export function namedClaims({ claims }: SharedReason, show: (name: string) => string): string {
  const more = claims.length > MANY_CLAIMS ? ` and ${claims.length - MANY_CLAIMS} more claims` : '';
  return claims.slice(0, MANY_CLAIMS).map(show).join(', ') + more;
}

/** Does the reason itself begin with the one build that it is about? Then that is not said twice. */
export const namesItself = ({ builds, reason }: SharedReason): boolean =>
  builds.length === 1 && reason.startsWith(builds[0] ?? '\0');

/** What was not the same for all builds, as `mcp 1.29.1 / 1.30.0`: packages and configuration. Empty for one build. */
export function differencesText(report: Report): string | null {
  const known = report.builds.filter((build) => Object.keys(build.packages).length > 0);
  if (known.length < 2) return null;
  const facts: Record<string, BuildReport['config'][string]>[] = known.map((build) => ({
    ...build.packages,
    ...build.config,
  }));
  const names = [...new Set(facts.flatMap((fact) => Object.keys(fact)))].sort();
  const differing = names.filter((name) => new Set(facts.map((fact) => fact[name])).size > 1);
  const shown = differing.map(
    (name) => `${name} ${facts.map((fact) => String(fact[name] ?? '–')).join(' / ')}`,
  );
  return `The builds differ in: ${shown.join('; ') || 'nothing that is known'}.`;
}

/** How small a leak would have been seen: said in every report, also where nothing could be counted. */
export function floorText(report: Report): string {
  const counted = report.builds
    .flatMap((build) => build.cases)
    .filter((played) => (played.sessions?.detectionFloor ?? 0) > 0);
  // Cases in which every session should be gone; where none of them was played, those that were.
  const telling = counted.filter((played) => played.id === 'delete' || played.id === 'reject');
  const floors = (telling.length > 0 ? telling : counted).map(
    (played) => played.sessions?.detectionFloor ?? 0,
  );
  if (floors.length === 0)
    return 'No sessions were counted: a kept session is seen only where HTTP shows it, and there is no detection floor.';
  return `Counts are exact: 1 session kept in ${thousands(Math.min(...floors))} would have been seen.`;
}

const VERDICTS: Record<Report['verdict'], string> = {
  pass: 'Every promised claim passed.',
  fail: 'A promised claim failed.',
  inconclusive: 'Undecided: a promised claim could not be measured.',
};

/** The verdict of a report that compares nothing. */
export function verdictOfClaims(report: Report): string {
  const failed = claimsWhere(report, (claim) => claim.promised && claim.status === 'fail');
  const allowed = failed.filter(({ claim }) => claim.allowed !== null).length;
  const stale = report.allowances.filter((one) => one.stale).length;
  if (report.verdict === 'fail' && failed.length === allowed && stale > 0)
    return `${staleText(stale)}: the failure that it allows does not happen.`;
  if (report.verdict === 'pass' && allowed > 0)
    return `Every promised claim passed or has an allowance: ${counted(allowed, 'failure is', 'failures are')} allowed.`;
  return VERDICTS[report.verdict];
}

export const staleText = (stale: number): string =>
  `${counted(stale, 'allowance is', 'allowances are')} stale`;

/** `1 claim`, `3 claims`. */
export const counted = (count: number, one: string, many: string): string =>
  `${thousands(count)} ${count === 1 ? one : many}`;
