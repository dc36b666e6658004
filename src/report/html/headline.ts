/** The verdict in words: one sentence that a reviewer reads first. */
import { decides } from '../../verdict/allowances.ts';
import type { Report, TimelineReport } from '../../verdict/schema.ts';
import { countsText, verdictText } from '../comparison-words.ts';
import { claimsWhere, counted } from '../words.ts';
import type { Tone } from './marks.ts';
import { shortName } from '../names.ts';

export interface Headline {
  readonly tone: Tone;
  /** What kind of report it is. */
  readonly kind: string;
  readonly text: string;
  /** A second sentence, or ''. */
  readonly lead: string;
}

const TONES: Record<Report['verdict'], Tone> = { pass: 'good', fail: 'bad', inconclusive: 'open' };

export function headlineOf(report: Report): Headline {
  const tone = TONES[report.verdict];
  if (report.comparison !== null)
    return { tone, kind: 'Release check', text: verdictText(report), lead: countsText(report.comparison) };
  const text = report.timeline === null ? buildsText(report) : timelineText(report.timeline, report);
  const kind = report.timeline === null ? 'Session retention' : `Versions of ${report.timeline.package}`;
  // The general sentence adds something where nothing failed, or where not all was played.
  const lead = report.verdict === 'fail' && report.complete ? '' : verdictText(report);
  return { tone, kind, text, lead: lead === text ? '' : lead };
}

/** `a, b and c` */
const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;

function timelineText({ claims, versions }: TimelineReport, report: Report): string {
  const failing = claims.filter(({ spans }) => spans.some(({ status }) => status === 'fail'));
  if (failing.length === 0) return verdictText(report);
  return `${counted(failing.length, 'claim fails', 'claims fail')} in some of ${counted(versions.length, 'version', 'versions')}.`;
}

const MANY = 4;

function buildsText(report: Report): string {
  const names = report.builds
    .filter((build) => build.cases.some(({ claims }) => claims.some(decides)))
    .map(shortName);
  if (names.length === 0) {
    if (report.verdict !== 'pass') return verdictText(report);
    return report.builds.length === 1
      ? `${report.builds.map(shortName).join('')} keeps what it promises.`
      : 'Every build keeps what it promises.';
  }
  if (report.builds.length === 1) {
    const claims = new Set(claimsWhere(report, decides).map(({ claim }) => claim.id));
    return `${listed(names)} fails ${counted(claims.size, 'claim', 'claims')}.`;
  }
  const who = names.length > MANY ? '' : `: ${listed(names)}`;
  return `${names.length} of ${report.builds.length} builds ${names.length === 1 ? 'fails' : 'fail'}${who}.`;
}
