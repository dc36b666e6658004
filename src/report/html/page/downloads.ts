/** The numbers behind the pictures, as files. They are made in the page: nothing is loaded. */
import type { Scene } from './scene.ts';
import { phaseAt } from './series.ts';

type Cell = string | number | boolean | null | undefined;

/** RFC 4180. A spreadsheet would take text that begins with one of these signs for a formula. */
function cell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => row.map(cell).join(',') + '\r\n').join('');

function caseCsv(scene: Scene, id: string): string {
  const head = [
    'build',
    'seconds',
    'phase',
    'registered',
    'expected_min',
    'expected_max',
    'identity_drift',
    'memory_mib',
    'requests',
  ];
  const rows = scene
    .armsOf(id)
    .flatMap((arm) =>
      arm.seconds.map((seconds, i) => [
        scene.nameOf(arm),
        seconds,
        phaseAt(arm, seconds),
        arm.registered[i],
        arm.expectedMin[i],
        arm.expectedMax[i],
        arm.identityDrift[i],
        arm.memoryMib[i],
        arm.requests[i],
      ]),
    );
  return csv([head, ...rows]);
}

interface Interval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

/** What of the report is drawn here. */
interface DrawnReport {
  readonly comparison: {
    readonly performance: {
      readonly measures: readonly {
        readonly id: string;
        readonly unit: string;
        readonly baseline: number | null;
        readonly candidate: number | null;
        readonly change: Interval | null;
        readonly decision: string;
      }[];
    } | null;
  } | null;
  readonly timeline: {
    readonly claims: readonly {
      readonly id: string;
      readonly spans: readonly {
        readonly from: string;
        readonly to: string;
        readonly status: string;
        readonly reason: string;
      }[];
    }[];
  } | null;
}

function performanceCsv(report: DrawnReport): string {
  const head = [
    'measure',
    'unit',
    'baseline',
    'candidate',
    'change',
    'change_low',
    'change_high',
    'decision',
  ];
  const rows = (report.comparison?.performance?.measures ?? []).map((one) => [
    one.id,
    one.unit,
    one.baseline,
    one.candidate,
    one.change?.estimate,
    one.change?.low,
    one.change?.high,
    one.decision,
  ]);
  return csv([head, ...rows]);
}

function timelineCsv(report: DrawnReport): string {
  const rows = (report.timeline?.claims ?? []).flatMap(({ id, spans }) =>
    spans.map(({ from, to, status, reason }) => [id, from, to, status, reason]),
  );
  return csv([['claim', 'from', 'to', 'status', 'reason'], ...rows]);
}

const MAKERS: Record<string, (scene: Scene, link: HTMLAnchorElement) => string> = {
  case: (scene, link) => caseCsv(scene, link.dataset.case ?? ''),
  performance: ({ report }) => performanceCsv(report as DrawnReport),
  timeline: ({ report }) => timelineCsv(report as DrawnReport),
  report: ({ report }) => JSON.stringify(report, null, 2) + '\n',
};

/** Gives each link its file; the files of an earlier state are let go of. */
export function linkDownloads(scene: Scene): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-download]')) {
    const make = MAKERS[link.dataset.download ?? ''];
    if (!make) continue;
    if (link.href.startsWith('blob:')) URL.revokeObjectURL(link.href);
    const type = link.download.endsWith('.json') ? 'application/json' : 'text/csv';
    link.href = URL.createObjectURL(new Blob([make(scene, link)], { type }));
    link.closest<HTMLElement>('.downloads')?.removeAttribute('hidden');
  }
}
