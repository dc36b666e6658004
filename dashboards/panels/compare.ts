/** Two builds over each other: the three series, and what lies between them. */
import * as units from '@grafana/grafana-foundation-sdk/units';
import { BigValueColorMode } from '@grafana/grafana-foundation-sdk/common';
import {
  requestsCompleted,
  serverResidentMemory,
  sessionRegistrations,
  sessionsRegistered,
  sessionsRegisteredAtStart,
} from '../../src/metrics/catalogue.ts';
import { lines, numbers, type Panel } from '../kit/panel.ts';
import type { Query } from '../kit/query.ts';
import { rateUnitOf, unitOf } from '../kit/units.ts';
import { bytesPerSession, retentionDrift } from '../rules/names.ts';
import { chosen, rate, type Scope } from './scope.ts';
import { judged, VERDICT_SAYS, verdictOf } from './verdict.ts';

export interface Pair {
  readonly baseline: Scope;
  readonly candidate: Scope;
}

const overlay = ({ baseline, candidate }: Pair, of: (scope: Scope) => string): Query[] => [
  { expr: of(baseline), legend: 'baseline $baseline' },
  { expr: of(candidate), legend: 'candidate $candidate' },
];

/** Nothing where one side is silent: half a difference is none. */
const difference = ({ baseline, candidate }: Pair, of: (scope: Scope) => string): Query[] => [
  { expr: `${of(candidate)} - ${of(baseline)}`, legend: 'candidate − baseline' },
];

const registered = (scope: Scope): string => `sum(${chosen(scope, sessionsRegistered)})`;
const memory = (scope: Scope): string => `sum(${chosen(scope, serverResidentMemory)})`;
const requests = (scope: Scope): string => rate(scope, requestsCompleted, []);

const BETWEEN =
  'Candidate minus baseline, as they were at the same moment. No line where one of the two is silent.';

export const verdicts = ({ baseline, candidate }: Pair): Panel =>
  judged(
    numbers({ title: 'Verdicts now', says: VERDICT_SAYS, unit: units.NoUnit, width: 24 }, [
      { expr: verdictOf(baseline), legend: 'baseline {{target}} {{build}}' },
      { expr: verdictOf(candidate), legend: 'candidate {{target}} {{build}}' },
    ]),
  ).colorMode(BigValueColorMode.Background);

export const registeredOverlay = (pair: Pair): Panel =>
  lines(
    {
      title: 'Registered sessions',
      says: 'Sessions in all registries of each build. Under the same load, the lines of a build that lets go and of one that does not drift apart.',
      unit: unitOf(sessionsRegistered),
      width: 12,
    },
    overlay(pair, registered),
  ).axisSoftMin(0);

export const registeredDifference = (pair: Pair): Panel =>
  lines(
    { title: 'Registered: difference', says: BETWEEN, unit: unitOf(sessionsRegistered), width: 12 },
    difference(pair, registered),
  ).axisCenteredZero(true);

export const driftOverlay = (pair: Pair): Panel =>
  lines(
    {
      title: 'Retention drift',
      says: 'How far the registered sessions lie outside what the load side’s ledger allows; 0 inside. Only where a load runs.',
      unit: unitOf(retentionDrift),
      width: 12,
    },
    overlay(pair, (scope) => `sum(${chosen(scope, retentionDrift)})`),
  ).axisCenteredZero(true);

export const keptShare = (pair: Pair): Panel =>
  lines(
    {
      title: 'Kept of what was registered',
      says: 'Sessions still registered as a share of those registered since the servers’ start. It falls with time where sessions are let go, and stays near 100 % where they are not.',
      unit: units.PercentUnit,
      width: 12,
    },
    overlay(
      pair,
      (scope) =>
        `(sum(${chosen(scope, sessionsRegistered)}) - sum(${chosen(scope, sessionsRegisteredAtStart)}))` +
        ` / (sum(${chosen(scope, sessionRegistrations)}) > 0)`,
    ),
  );

export const memoryOverlay = (pair: Pair): Panel =>
  lines(
    {
      title: 'Resident memory',
      says: 'Resident memory of all workers of each build. Evidence: a build may keep sessions long before its memory shows it.',
      unit: unitOf(serverResidentMemory),
      width: 8,
    },
    overlay(pair, memory),
  ).axisSoftMin(0);

export const memoryDifference = (pair: Pair): Panel =>
  lines(
    { title: 'Memory: difference', says: BETWEEN, unit: unitOf(serverResidentMemory), width: 8 },
    difference(pair, memory),
  ).axisCenteredZero(true);

export const perSessionOverlay = (pair: Pair): Panel =>
  lines(
    {
      title: 'Memory per retained session',
      says: 'Growth of resident memory per session that the registry grew by, averaged over the workers. No line while the registry does not grow.',
      unit: unitOf(bytesPerSession),
      width: 8,
    },
    overlay(pair, (scope) => `avg(${chosen(scope, bytesPerSession)})`),
  ).axisSoftMin(0);

export const requestsOverlay = (pair: Pair): Panel =>
  lines(
    {
      title: 'Completed requests',
      says: 'Requests per second that each build finished with. Only builds under the same load can be compared: look here first.',
      unit: rateUnitOf(requestsCompleted),
      width: 12,
    },
    overlay(pair, requests),
  ).axisSoftMin(0);

export const requestsDifference = (pair: Pair): Panel =>
  lines(
    { title: 'Requests: difference', says: BETWEEN, unit: rateUnitOf(requestsCompleted), width: 12 },
    difference(pair, requests),
  ).axisCenteredZero(true);
