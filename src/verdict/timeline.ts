/**
 * A sweep's timeline: since which version each claim holds, until which it does not.
 */
import type { Recording } from '../recording/reader.ts';
import type { SweepRecord } from '../recording/schema.ts';
import { gapsOf, releaseLines } from './bisect.ts';
import type { BuildReport, CaseReport, ClaimReport, TimelineReport } from './schema.ts';

type Status = TimelineReport['claims'][number]['spans'][number]['status'];
type VersionState = TimelineReport['versions'][number];

interface Finding {
  readonly status: Status;
  readonly reason: string;
}

const SURVIVAL = 'survival.serves-after';
/** It speaks of the probe, which needs no server that serves. */
const IDENTITY = 'identity.holds';

/** A claim of every case is one row: what decides it in one case decides it. */
const WEIGHT: Record<Status, number> = { fail: 3, unmeasured: 2, pass: 1, unasked: 0 };

/** What one version came to. */
interface Column extends VersionState {
  /** By claim id; a claim that is not there was not measured. */
  readonly findings: ReadonlyMap<string, Finding>;
}

/** The name of the build that a version is measured as. */
export const buildOfVersion = (sweep: Pick<SweepRecord, 'package'>, version: string): string =>
  `${sweep.package}@${version}`;

/** @param builds those of the recording, judged */
export function timelineOf(
  { sweep }: Pick<Recording, 'sweep'>,
  builds: readonly BuildReport[],
): TimelineReport | null {
  if (sweep === null) return null;
  const byVersion = buildsOf(sweep, builds);
  const findings = fingerprintsOf(sweep, builds);
  const says = saysOf(builds);
  const ids = [...says.keys()];
  const lines = releaseLines(sweep.versions).map((line) => columnsOf(line, byVersion, findings, sweep, ids));
  return {
    package: sweep.package,
    mode: sweep.mode,
    versions: lines.flat().map(({ version, state, reason }) => ({ version, state, reason })),
    claims: [...says].map(([id, text]) => ({
      id,
      says: text,
      spans: lines.flatMap((line) => spansOf(line, id)),
    })),
  };
}

/** The findings of each measured version as a text that two versions share when they are the same. */
export function fingerprintsOf(
  sweep: Pick<SweepRecord, 'package' | 'versions'>,
  builds: readonly BuildReport[],
): Map<string, string> {
  const ids = [...saysOf(builds).keys()];
  return new Map(
    [...buildsOf(sweep, builds)].map(([version, build]) => {
      const findings = findingsOf(build);
      return [version, ids.map((id) => findings.get(id)?.status ?? 'unmeasured').join()];
    }),
  );
}

function buildsOf(
  sweep: Pick<SweepRecord, 'package' | 'versions'>,
  builds: readonly BuildReport[],
): Map<string, BuildReport> {
  const named = new Map(builds.map((build) => [build.name, build]));
  return new Map(
    sweep.versions.flatMap((version) => {
      const build = named.get(buildOfVersion(sweep, version));
      return build === undefined || build.cases.length === 0 ? [] : [[version, build]];
    }),
  );
}

/** Every claim once with what it says: those of a case in the order of cases, those of every case last. */
function saysOf(builds: readonly BuildReport[]): Map<string, string> {
  const own = new Map<string, string>();
  const every = new Map<string, string>();
  for (const played of builds.flatMap((build) => build.cases))
    for (const { id, says } of played.claims) (id.startsWith(`${played.id}.`) ? own : every).set(id, says);
  return new Map([...own, ...every]);
}

function findingsOf(build: BuildReport): Map<string, Finding> {
  const found = new Map<string, Finding>();
  for (const claim of build.cases.flatMap(claimsOf)) {
    const finding = findingOf(claim);
    const before = found.get(claim.id);
    if (before === undefined || WEIGHT[finding.status] > WEIGHT[before.status]) found.set(claim.id, finding);
  }
  return found;
}

/** Where the server stopped serving in the middle of a case, nothing has passed in it; what failed, did. */
function claimsOf({ claims }: CaseReport): ClaimReport[] {
  const stopped = claims.find(({ id, status }) => id === SURVIVAL && status === 'fail');
  if (stopped === undefined) return claims;
  return claims.map((claim) =>
    claim.promised && claim.status === 'pass' && claim.id !== IDENTITY
      ? { ...claim, status: 'unmeasured', reason: stopped.reason }
      : claim,
  );
}

const findingOf = ({ promised, status, reason }: ClaimReport): Finding => ({
  status: promised ? status : 'unasked',
  reason,
});

function columnsOf(
  line: readonly string[],
  builds: ReadonlyMap<string, BuildReport>,
  fingerprints: ReadonlyMap<string, string>,
  { mode, yanked = [] }: SweepRecord,
  ids: readonly string[],
): Column[] {
  const gaps = mode === 'bisect' ? gapsOf(line, fingerprints).filter((gap) => gap.same) : [];
  return line.map((version) => {
    const build = builds.get(version);
    const gap = gaps.find(({ between }) => between.includes(version));
    const column = build
      ? measured(version, build, ids)
      : gap
        ? assumed(version, gap, builds)
        : missing(version);
    return yanked.includes(version) ? { ...column, reason: withYanked(column.reason) } : column;
  });
}

const withYanked = (reason: string): string =>
  `It was taken back (yanked) from the index.${reason === '' ? '' : ` ${reason}`}`;

function measured(version: string, build: BuildReport, ids: readonly string[]): Column {
  const promised = build.cases.flatMap((played) =>
    claimsOf(played)
      .filter((claim) => claim.promised)
      .map((claim) => ({ played, claim })),
  );
  const findings = findingsOf(build);
  const open = promised.filter(({ claim }) => claim.status === 'unmeasured');
  const cut = ids.some((id) => !findings.has(id));
  const state =
    open.length === 0 && !cut ? 'measured' : open.length === promised.length ? 'failed' : 'partly';
  const [first] = open;
  const where = state === 'partly' ? `${first?.played.id ?? ''}: ` : '';
  return { version, state, reason: first ? where + first.claim.reason : cut ? CUT : '', findings };
}

const CUT = 'The run ended before all of its cases were played.';

function assumed(
  version: string,
  { before, after }: { before: string; after: string },
  builds: ReadonlyMap<string, BuildReport>,
): Column {
  const neighbour = builds.get(before);
  return {
    version,
    state: 'assumed',
    reason: `Not measured: ${before} and ${after} are the same.`,
    findings: neighbour ? findingsOf(neighbour) : new Map(),
  };
}

const missing = (version: string): Column => ({
  version,
  state: 'failed',
  reason: 'The run ended before it was measured.',
  findings: new Map(),
});

/** Neighbours of one line with the same status, together. */
function spansOf(line: readonly Column[], claim: string): TimelineReport['claims'][number]['spans'] {
  const spans: TimelineReport['claims'][number]['spans'] = [];
  for (const { version, findings, reason: why } of line) {
    const { status, reason } = findings.get(claim) ?? { status: 'unmeasured', reason: why };
    const last = spans.at(-1);
    if (last?.status === status) last.to = version;
    else spans.push({ from: version, to: version, status, reason });
  }
  return spans;
}
