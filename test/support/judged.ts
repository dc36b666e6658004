/** What was judged, made by hand: a release check with all that a page can show, and a sweep. */
import type { Judged } from '../../src/report/formats.ts';
import type { Report } from '../../src/verdict/schema.ts';
import {
  BASELINE,
  buildOf,
  CANDIDATE,
  caseOf,
  changeOf,
  claimOf,
  comparedOf,
  measureOf,
  performanceOf,
  reportOf,
} from './reports.ts';
import { seriesOf } from './series.ts';

/** Regressed, fixed, undecided and allowed claims, speed, a notice, a server that ended in between. */
export function comparedJudged(fields: Partial<Report> = {}): Judged {
  const changes = [
    changeOf('delete.deregisters', 'regressed'),
    changeOf('delete.accepted', 'same'),
    changeOf('abandon.bounded', 'regressed', { allowed: 'we run behind a recycling worker' }),
    changeOf('keepalive.stream-survives', 'fixed'),
    changeOf('keepalive.call-completes', 'unmeasured'),
  ];
  const measures = [
    measureOf('calls-p50', { title: 'Response time of calls, median' }),
    measureOf('calls-per-second', { decision: 'same', change: { estimate: 0.01, low: -0.02, high: 0.03 } }),
    measureOf('start', { decision: 'undecided', baseline: null, candidate: null, change: null }),
  ];
  const report = comparedOf(
    changes,
    'fail',
    { performance: performanceOf(measures) },
    {
      notices: [{ build: CANDIDATE, case: 'delete', text: 'The load side was busy.' }],
      allowances: [
        { claim: 'abandon.bounded', reason: 'we run behind a recycling worker', stale: false },
        { claim: 'delete.accepted', reason: 'no longer', stale: true },
      ],
      ...fields,
    },
  );
  const series = ['delete', 'abandon', 'keepalive'].flatMap((id) => [
    seriesOf(BASELINE, id),
    seriesOf(CANDIDATE, id, 200, id === 'keepalive' ? { restarts: [4.5] } : {}),
  ]);
  return { report, series: () => series };
}

const SWEPT = ['1.8.0', '1.9.0', '1.29.1', '1.30.0', '2.0.0', '2.1.1', '2.2.0'];
const AFFECTED = new Set(['1.8.0', '1.9.0', '1.29.1', '2.0.0', '2.1.1']);

export function sweptJudged(): Judged {
  const name = (version: string): string => `python:mcp@${version}`;
  const builds = SWEPT.map((version) =>
    buildOf(name(version), [
      caseOf('delete', [
        claimOf('delete.deregisters', { status: AFFECTED.has(version) ? 'fail' : 'pass' }),
        claimOf('delete.accepted'),
      ]),
    ]),
  );
  const span = (from: string, to: string, status: 'pass' | 'fail') => ({
    from,
    to,
    status,
    reason: status === 'fail' ? 'DELETE keeps the entry.' : '',
  });
  const report = reportOf(builds, {
    verdict: 'fail',
    timeline: {
      package: 'python:mcp',
      mode: 'all',
      versions: SWEPT.map((version) => ({
        version,
        state: version === '1.9.0' ? 'assumed' : 'measured',
        reason: '',
      })),
      claims: [
        {
          id: 'delete.deregisters',
          says: 'A deleted session leaves the registry.',
          spans: [
            span('1.8.0', '1.29.1', 'fail'),
            span('1.30.0', '1.30.0', 'pass'),
            span('2.0.0', '2.1.1', 'fail'),
            span('2.2.0', '2.2.0', 'pass'),
          ],
        },
        {
          id: 'delete.accepted',
          says: 'DELETE is answered with success.',
          spans: [span('1.8.0', '1.30.0', 'pass'), span('2.0.0', '2.2.0', 'pass')],
        },
      ],
    },
  });
  return {
    report,
    series: () => SWEPT.map((version) => seriesOf(name(version), 'delete', AFFECTED.has(version) ? 200 : 0)),
  };
}
