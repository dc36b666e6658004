/** The files that a report is written as. To add one: a function of what was judged, and an entry here. */
import type { ArmSeries } from '../verdict/series.ts';
import type { Report } from '../verdict/schema.ts';
import { junitReport } from './junit.ts';
import { htmlReport } from './html/report.ts';
import { markdownReport } from './markdown.ts';

/** What every format is a pure function of. */
export interface Judged {
  readonly report: Report;
  /** The series behind the pictures; made when a format asks for them. */
  readonly series: () => readonly ArmSeries[];
}

interface FormatDefinition {
  /** Its name beside the recording. */
  readonly file: string;
  /** For the option's help. */
  readonly says: string;
  readonly render: (judged: Judged) => string;
}

export const FORMATS = {
  json: {
    file: 'report.json',
    says: 'JSON',
    render: ({ report }) => JSON.stringify(report, null, 2) + '\n',
  },
  markdown: { file: 'report.md', says: 'Markdown', render: ({ report }) => markdownReport(report) },
  junit: {
    file: 'report.junit.xml',
    says: 'JUnit XML',
    render: ({ report, series }) => junitReport(report, series()),
  },
  html: { file: 'report.html', says: 'an HTML page', render: htmlReport },
} as const satisfies Record<string, FormatDefinition>;

export type Format = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.keys(FORMATS) as Format[];
