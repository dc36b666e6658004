/** The HTML report: a pure function of what was judged. */
import type { ArmSeries } from '../../verdict/series.ts';
import type { Report } from '../../verdict/schema.ts';
import { plainAll } from '../plain.ts';
import { pageData } from './chart-data.ts';
import type { LiveData } from './data.ts';
import { navigation, pageDocument } from './document.ts';
import { headlineOf } from './headline.ts';
import { partsOf } from './parts.ts';

interface Judgement {
  readonly report: Report;
  readonly series: () => readonly ArmSeries[];
}

const titled = (text: string): string => `${text} – MCP session retention`;
const RUNNING = titled('Running');

/** One self-contained file: it needs no network, and its policy allows it none. */
export function htmlReport(judgement: Judgement): string {
  const { report, arms } = plainJudgement(judgement);
  return pageDocument({
    title: titled(headlineOf(report).text),
    parts: partsOf(report, arms, false),
    data: pageData(report, arms),
    report,
    live: false,
  });
}

/** The same page for a server on loopback: it asks for `data.json` until the run is over. */
export function livePage(judgement: Judgement): string {
  const { report, arms } = plainJudgement(judgement);
  return pageDocument({
    title: RUNNING,
    parts: partsOf(report, arms, true),
    data: pageData(report, arms),
    report,
    live: true,
  });
}

export function liveData(judgement: Judgement, running: boolean): LiveData {
  const { report, arms } = plainJudgement(judgement);
  const parts = partsOf(report, arms, running);
  return {
    title: running ? RUNNING : titled(headlineOf(report).text),
    running,
    data: pageData(report, arms),
    parts: Object.fromEntries(parts.map(({ id, content }) => [id, content.text])),
    navigation: navigation(parts).text,
    report,
  };
}

const plainJudgement = ({ report, series }: Judgement): { report: Report; arms: readonly ArmSeries[] } => ({
  report: plainAll(report),
  arms: plainAll(series()),
});
