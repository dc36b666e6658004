/** What the panels of a dashboard look at, and the expressions that several of them share. */
import type { clientOpened } from '../../src/metrics/catalogue.ts';
import { by, over, sel, type Matchers, type Series, type Wanted } from '../promql.ts';
import type { RulesOptions } from '../rules/options.ts';

type Side = 'server' | 'load';

/** Labels that Prometheus attaches to what it scrapes. */
const SCRAPED = ['job', 'instance'];

export interface Scope extends RulesOptions {
  /** Whose scrape job and instance the variables `job` and `instance` choose: the other side has its own. */
  readonly side: Side;
  /** Label → what the dashboard's variables want of it; each applies where a series has the label. */
  readonly where: Readonly<Record<string, Wanted>>;
}

/** The shortest window in which a rate can be told at the resolution shown. */
export const RATE = '$__rate_interval';

/** Labels of one session manager in all that is scraped: the same process id can be in two containers. */
export const MANAGER = ['job', 'instance', 'target', 'build', 'worker', 'manager'];
export const WORKER = ['job', 'instance', 'target', 'build', 'worker'];
export const BUILD = ['target', 'build'];

/** A series as the dashboard's variables choose it. */
export const chosen = <Label extends string>(
  scope: Scope,
  series: Series<Label>,
  more: Matchers<Label> = {},
): string => sel(series, scope, { ...matchersOf(scope, series), ...more });

export const chosenOver = <Label extends string>(
  scope: Scope,
  series: Series<Label>,
  window: string = RATE,
  more: Matchers<Label> = {},
): string => over(series, scope, window, { ...matchersOf(scope, series), ...more });

/** Growth per second of a counter, by labels. */
export const rate = <Label extends string>(
  scope: Scope,
  series: Series<Label>,
  labels: readonly string[],
  more: Matchers<Label> = {},
): string => by('sum', labels, `rate(${chosenOver(scope, series, RATE, more)})`);

const matchersOf = <Label extends string>(scope: Scope, series: Series<Label>): Matchers<Label> =>
  Object.fromEntries(
    Object.entries(scope.where).filter(([label]) => hasLabel(series, label, scope.side)),
  ) as Matchers<Label>;

function hasLabel(series: Series, label: string, side: Side): boolean {
  if (series.labels.includes(label)) return true;
  if (!SCRAPED.includes(label) || sideOf(series) !== side) return false;
  // A rule above the worker sums instances up; below, it keeps what the scrape attached.
  return !series.name.includes(':') || series.labels.includes('worker');
}

const sideOf = (series: Series): Side =>
  (['case', 'run'] satisfies (typeof clientOpened)['labels'][number][]).every((label) =>
    series.labels.includes(label),
  )
    ? 'load'
    : 'server';
