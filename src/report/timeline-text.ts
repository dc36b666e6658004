/** A sweep's timeline in text: for each claim a line with a character a version, and its spans in words. */
import type { Report, TimelineReport } from '../verdict/schema.ts';
import type { Section } from './markdown-fit.ts';
import { codeSpan, escapeText } from './markdown-text.ts';
import type { Look, Paint } from './terminal-tables.ts';
import { counted, floorText, groupBy } from './words.ts';

type Claim = TimelineReport['claims'][number];
type Span = Claim['spans'][number];
type Status = Span['status'];
type Version = TimelineReport['versions'][number];

const SIGNS: Record<Status, string> = { pass: '✓', fail: '✗', unmeasured: '?', unasked: '–' };
/** Of a version that was not measured, because it lies between two that are the same. */
const ASSUMED = '·';
const EMOJIS: Record<Status, string> = { pass: '✅', fail: '❌', unmeasured: '❔', unasked: '➖' };

const reach = ({ from, to }: Pick<Span, 'from' | 'to'>): string => (from === to ? from : `${from}–${to}`);

/** Versions of which it is not known what they keep. */
export const notMeasured = ({ timeline }: Report): Version[] =>
  (timeline?.versions ?? []).filter(({ state }) => state === 'failed' || state === 'partly');

/** `python:mcp 1.8.0–2.2.0, stateless: 49 versions, 12 of them measured, 37 assumed.` */
export function timelineTitle(report: Report, timeline: TimelineReport): string {
  const { versions } = timeline;
  const measured = versions.filter(({ state }) => state === 'measured').length;
  const assumed = versions.filter(({ state }) => state === 'assumed').length;
  const stateless = report.builds.some(({ config }) => config.stateless === true) ? ', stateless' : '';
  const ends = reach({ from: versions[0]?.version ?? '', to: versions.at(-1)?.version ?? '' });
  const how = [
    `${measured} of them measured`,
    ...(assumed > 0 ? [`${assumed} between two that are the same`] : []),
    ...(notMeasured(report).length > 0 ? [`${notMeasured(report).length} not, or in part`] : []),
  ];
  const many = counted(versions.length, 'version', 'versions');
  return `${timeline.package} ${ends}${stateless}: ${many}, ${how.join(', ')}.`;
}

/** What the timeline says in one sentence. */
export function timelineVerdict(report: Report, timeline: TimelineReport): string {
  const failing = timeline.claims.filter(({ spans }) => spans.some(({ status }) => status === 'fail')).length;
  const said =
    failing === 0
      ? 'No claim fails in any version that was measured.'
      : `${counted(failing, 'claim fails', 'claims fail')} in some versions.`;
  return report.complete ? said : `${said} The run was not played to its end.`;
}

/** A claim that comes to the same in every version, or one of which there is more to say. */
const isSteady = ({ spans }: Claim): boolean =>
  spans.every(({ status }) => status === spans[0]?.status && (status === 'pass' || status === 'unasked'));

export function terminalTimeline(report: Report, timeline: TimelineReport, look: Look): string[] {
  const { paint } = look;
  const steady = groupBy(timeline.claims.filter(isSteady), ({ spans }) => spans[0]?.status ?? 'unasked');
  const all = (status: Status, says: string): string =>
    steady.has(status)
      ? `${SIGNS[status]} ${says}: ${(steady.get(status) ?? []).map(({ id }) => id).join(', ')}`
      : '';
  return [
    paint.bold(timelineTitle(report, timeline)),
    ...timeline.claims
      .filter((claim) => !isSteady(claim))
      .map((claim) => terminalClaim(timeline, claim, look)),
    [all('pass', 'passes in every version'), all('unasked', 'asked of no version')]
      .filter(Boolean)
      .join('\n'),
    'A character a version, oldest first: ✓ pass, ✗ fail, ? not measured, – not asked, · as both its neighbours.',
    notMeasured(report)
      .map(({ version, state, reason }) => `${paint.yellow('?')} ${version} ${TROUBLE[state]}: ${reason}`)
      .join('\n'),
    timeline.versions
      .filter(({ state, reason }) => state === 'measured' && reason !== '')
      .map(({ version, reason }) => `Note on ${version}: ${reason}`)
      .join('\n'),
    notices(report).join('\n'),
    floorText(report),
    timelineVerdict(report, timeline),
  ];
}

/** Notices about the run as a whole; those about one version are too many to be told here. */
function notices(report: Report): string[] {
  const general = report.notices.filter(({ build }) => build === null);
  const special = report.notices.length - general.length;
  return [
    ...general.map(({ text }) => `Note: ${text}`),
    ...(special > 0 ? [`${counted(special, 'note', 'notes')} on single versions: see report.json.`] : []),
  ];
}

const TROUBLE: Partial<Record<Version['state'], string>> = {
  failed: 'was not measured',
  partly: 'was measured in part',
};

function terminalClaim(timeline: TimelineReport, claim: Claim, { paint, columns }: Look): string {
  const lines = [`${paint.bold(claim.id)}  ${claim.says}`];
  const drawn = drawnLines(timeline, claim).join(' | ');
  for (let at = 0; at < drawn.length; at += columns - 4)
    lines.push(`    ${coloured(drawn.slice(at, at + columns - 4), paint)}`);
  lines.push(`    ${inLines(claim, (span) => `${coloured(SIGNS[span.status], paint)} ${reach(span)}`)}`);
  return [...lines, ...reasonsOf(claim).map((text) => `    ${text}`)].join('\n');
}

/** Each reason once, with the versions that it is given for. */
function reasonsOf({ spans }: Claim): string[] {
  const told = spans.filter(({ status, reason }) => status !== 'pass' && reason !== '');
  return [...groupBy(told, ({ reason }) => reason)].map(
    ([reason, same]) => `${same.map(reach).join(', ')}: ${reason}`,
  );
}

const COLOURS: Record<string, (paint: Paint) => (text: string) => string> = {
  '✓': (paint) => paint.green,
  '✗': (paint) => paint.red,
  '?': (paint) => paint.yellow,
};

const coloured = (text: string, paint: Paint): string =>
  text.replace(/✓+|✗+|\?+/g, (run) => COLOURS[run.charAt(0)]?.(paint)(run) ?? run);

/** Places of each span's ends among the versions, oldest first. */
function placed(timeline: TimelineReport, { spans }: Claim): { span: Span; versions: readonly Version[] }[] {
  const place = new Map(timeline.versions.map(({ version }, i) => [version, i]));
  return spans.map((span) => ({
    span,
    versions: timeline.versions.slice(place.get(span.from) ?? 0, (place.get(span.to) ?? -1) + 1),
  }));
}

const lineOf = (version: string): string => version.split('.')[0] ?? '';

/** A character a version; a text for each release line. */
export function drawnLines(timeline: TimelineReport, claim: Claim): string[] {
  const signs = placed(timeline, claim).flatMap(({ span, versions }) =>
    versions.map(({ version, state }) => ({
      line: lineOf(version),
      sign: state === 'assumed' ? ASSUMED : SIGNS[span.status],
    })),
  );
  return [...groupBy(signs, ({ line }) => line).values()].map((of) => of.map(({ sign }) => sign).join(''));
}

/** Spans in words, release lines apart: `✗ 1.8.0–1.29.1  ✓ 1.30.0 | ✗ 2.0.0–2.1.1  ✓ 2.2.0`. */
function inLines({ spans }: Claim, text: (span: Span) => string): string {
  const lines = groupBy(spans, ({ from }) => lineOf(from));
  return [...lines.values()].map((own) => own.map(text).join('  ')).join(' | ');
}

export const markdownTimelineHead = (report: Report, timeline: TimelineReport): string =>
  [
    '## MCP session retention: sweep',
    `**${escapeText(timelineVerdict(report, timeline))}**`,
    escapeText(floorText(report)),
  ].join('\n\n');

export function markdownTimeline(report: Report, timeline: TimelineReport): Section[] {
  const rows = timeline.claims.map((claim) => {
    const spans = claim.spans.map((span) => escapeText(`${EMOJIS[span.status]} ${reach(span)}`)).join('<br>');
    const why = reasonsOf(claim).map(escapeText).join('<br>');
    return `| ${codeSpan(claim.id)}<br>${escapeText(claim.says)} | ${spans} | ${why} |`;
  });
  const troubles = notMeasured(report).map(
    ({ version, state, reason }) => `- ${codeSpan(version)} ${TROUBLE[state] ?? ''}: ${escapeText(reason)}`,
  );
  return [
    {
      title: escapeText(timelineTitle(report, timeline)),
      head: ['| claim | versions | why |', '| --- | --- | --- |'],
      entries: rows,
      of: 'claims',
    },
    { title: 'Not measured, or in part', entries: troubles, of: 'versions' },
    { title: 'Notes', entries: notices(report).map((text) => `- ${escapeText(text)}`), of: 'notes' },
  ];
}
