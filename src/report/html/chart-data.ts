/** The numbers behind the pictures, as the page takes them. */
import type { ArmSeries } from '../../verdict/series.ts';
import type { Report } from '../../verdict/schema.ts';
import type { ArmData, PageData } from './data.ts';
import { labelsOf, shortName } from '../names.ts';

/** More lines than this are not told apart; the reader chooses others. */
const MOST_SHOWN = 6;

export function pageData(report: Report, series: readonly ArmSeries[]): PageData {
  const builds = buildsOf(report, series);
  const labels = labelsOf(builds.map(shortName));
  const shown = shownOf(
    report,
    builds.map(({ name }) => name),
  );
  const places = new Map(builds.map(({ name }, place) => [name, place]));
  return {
    builds: builds.map(({ name }, i) => ({ name, label: labels[i] ?? name, shown: shown.has(name) })),
    cases: caseIds(report, series).map((id) => ({
      id,
      arms: series
        .filter((arm) => arm.case === id)
        .map((arm) => armData(arm, places.get(arm.build) ?? 0, driftOf(report, arm)))
        .sort((a, b) => a.build - b.build),
    })),
  };
}

/** Cases in the report's order; while a run goes on, cases that are still played come after it. */
export function caseIds(report: Report, series: readonly ArmSeries[]): string[] {
  const judged = report.builds.flatMap((build) => build.cases.map((played) => played.id));
  return [...new Set([...judged, ...series.map((arm) => arm.case)])];
}

function buildsOf(report: Report, series: readonly ArmSeries[]): { name: string; version: string | null }[] {
  const known = new Set(report.builds.map((build) => build.name));
  const others = [...new Set(series.map((arm) => arm.build))].filter((name) => !known.has(name));
  return [...report.builds, ...others.map((name) => ({ name, version: null }))];
}

/** Of a sweep, the versions at which something changes. */
function shownOf(report: Report, names: readonly string[]): Set<string> {
  const turns = new Set(
    report.timeline?.claims
      .filter(({ spans }) => spans.length > 1)
      .flatMap(({ spans }) => spans.flatMap(({ from, to }) => [from, to])),
  );
  const turning = report.builds.filter(({ version }) => version !== null && turns.has(version));
  const chosen = turning.length > 0 ? turning.map((build) => build.name) : names;
  return new Set(chosen.slice(0, MOST_SHOWN));
}

const driftOf = (report: Report, arm: ArmSeries): number | null =>
  report.builds.find((build) => build.name === arm.build)?.cases.find((played) => played.id === arm.case)
    ?.sessions?.retentionDrift ?? null;

const rounded = (places: number) => {
  const factor = 10 ** places;
  return <T extends number | null>(values: readonly T[]): (number | T)[] =>
    values.map((value) => (value === null ? value : Math.round(value * factor) / factor));
};
const milliseconds = rounded(3);
const hundredths = rounded(2);

function armData(arm: ArmSeries, build: number, drift: number | null): ArmData {
  const { registered, expectedMin, expectedMax, identityDrift, requests } = arm;
  return {
    build,
    drift,
    seconds: milliseconds(arm.seconds),
    registered,
    expectedMin,
    expectedMax,
    identityDrift,
    memoryMib: hundredths(arm.memoryMib),
    requests,
    phases: arm.phases.map(({ phase, from, to }) => ({ phase, from: round(from), to: round(to) })),
    restarts: milliseconds(arm.restarts),
  };
}

const round = (seconds: number): number => Math.round(seconds * 1000) / 1000;
