/** How many sessions are registered, how many may be, and what they are doing. */
import * as units from '@grafana/grafana-foundation-sdk/units';
import {
  clientExpected,
  sessionRemnants,
  sessionsInFlight,
  sessionsRegistered,
  sessionStreamsOpen,
} from '../../src/metrics/catalogue.ts';
import { mustBeZero } from '../kit/absent.ts';
import { lines, numbers, type Panel } from '../kit/panel.ts';
import { unitOf } from '../kit/units.ts';
import { by } from '../promql.ts';
import { expectedPopulation, growthPerMinute, identityDrift, retentionDrift } from '../rules/names.ts';
import { BUILD, chosen, MANAGER, type Scope } from './scope.ts';

const NAME = '{{target}} {{build}}';
const MANAGER_NAME = '{{target}} {{build}} worker {{worker}}/{{manager}}';

export const registeredNow = (scope: Scope): Panel =>
  numbers(
    {
      title: 'Registered now',
      says: 'Sessions in the registries of everything chosen. Not judged here: what is right depends on load and policy.',
      unit: unitOf(sessionsRegistered),
      width: 4,
    },
    [{ expr: `sum(${chosen(scope, sessionsRegistered)})`, legend: 'registered' }],
  );

export const remnantsNow = (scope: Scope): Panel =>
  numbers(
    {
      title: 'Remnants now',
      says: 'Entries still registered whose transport has terminated. More than 0 for longer than an instant is a leak.',
      unit: unitOf(sessionRemnants),
      width: 4,
    },
    [{ expr: `sum(${chosen(scope, sessionRemnants)})`, legend: 'remnants' }],
  ).thresholds(mustBeZero());

export const identityNow = (scope: Scope): Panel =>
  numbers(
    {
      title: 'Identity drift now',
      says: 'The largest difference between a registry and its own counters. Anything but 0: the probe’s counts are not to be trusted.',
      unit: unitOf(identityDrift),
      width: 4,
    },
    [{ expr: `max(abs(${chosen(scope, identityDrift)}))`, legend: 'identity drift' }],
  ).thresholds(mustBeZero());

export const registeredAgainstExpected = (scope: Scope): Panel =>
  lines(
    {
      title: 'Registered against expected',
      says:
        'Sessions registered by build, and the interval that the load side’s ledger allows (only where a load runs). Above the maximum: ' +
        'the server keeps what it should have let go. Below the minimum: it dropped what it should have kept. ' +
        'The long-run population is arrival rate × idle timeout: a long timeout holds that many sessions although nothing leaks.',
      unit: unitOf(sessionsRegistered),
      width: 12,
      height: 10,
    },
    [
      { expr: by('sum', BUILD, chosen(scope, sessionsRegistered)), legend: `${NAME} registered` },
      {
        expr: by('sum', [...BUILD, 'bound'], chosen(scope, clientExpected)),
        legend: `${NAME} expected {{bound}}`,
      },
      { expr: by('sum', BUILD, chosen(scope, expectedPopulation)), legend: `${NAME} in the long run` },
    ],
  )
    .axisSoftMin(0)
    .overrideByRegexp('/expected/', [
      { id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 6] } },
      { id: 'custom.lineWidth', value: 1 },
    ])
    .overrideByRegexp('/in the long run/', [
      { id: 'custom.lineStyle', value: { fill: 'dot', dash: [2, 6] } },
    ]);

export const retentionDriftOverTime = (scope: Scope): Panel =>
  lines(
    {
      title: 'Retention drift',
      says:
        'How far the registered sessions lie above (positive) or below (negative) what the ledger allows; 0 inside. While load runs, ' +
        'openings in flight may show for an instant. Absent, not 0, where there is no ledger or the target does not answer.',
      unit: unitOf(retentionDrift),
      width: 12,
      height: 10,
    },
    [{ expr: chosen(scope, retentionDrift), legend: NAME }],
  )
    .axisCenteredZero(true)
    .fillOpacity(10);

export const identityOverTime = (scope: Scope): Panel =>
  lines(
    {
      title: 'Identity drift',
      says: 'registered − (registered at start + registrations − removals) of one scrape, by manager. It is exactly 0, also across restarts.',
      unit: unitOf(identityDrift),
      width: 8,
    },
    [{ expr: chosen(scope, identityDrift), legend: MANAGER_NAME }],
  ).axisCenteredZero(true);

export const remnantsOverTime = (scope: Scope): Panel =>
  lines(
    {
      title: 'Remnants',
      says: 'Entries still registered whose transport has terminated, by build. A server that cleans up has none for longer than an instant.',
      unit: unitOf(sessionRemnants),
      width: 8,
    },
    [{ expr: by('sum', BUILD, chosen(scope, sessionRemnants)), legend: NAME }],
  ).axisSoftMin(0);

export const growth = (scope: Scope): Panel =>
  lines(
    {
      title: 'Growth per minute',
      says: 'How fast the registries grow (negative: shrink), by build. Growth that does not end when the load does, or has no expiry against it, is a leak.',
      unit: unitOf(growthPerMinute),
      width: 8,
    },
    [{ expr: by('sum', BUILD, chosen(scope, growthPerMinute)), legend: NAME }],
  ).axisCenteredZero(true);

export const inFlight = (scope: Scope): Panel =>
  lines(
    {
      title: 'In flight',
      says: 'Registered sessions with a request or stream being served. The rest of the registered ones are idle.',
      unit: unitOf(sessionsInFlight),
      width: 8,
    },
    [{ expr: by('sum', BUILD, chosen(scope, sessionsInFlight)), legend: NAME }],
  ).axisSoftMin(0);

export const openStreams = (scope: Scope): Panel =>
  lines(
    {
      title: 'Open streams',
      says: 'GET event streams open now. A session with an open stream is not idle and must not expire.',
      unit: unitOf(sessionStreamsOpen),
      width: 8,
    },
    [{ expr: by('sum', BUILD, chosen(scope, sessionStreamsOpen)), legend: NAME }],
  ).axisSoftMin(0);

export const byWorker = (scope: Scope): Panel =>
  lines(
    {
      title: 'Registered by worker',
      says: 'The registry of each session manager. One worker that grows alone points to routing, or to a client that stays with it.',
      unit: units.Short,
      width: 8,
    },
    [{ expr: by('sum', MANAGER, chosen(scope, sessionsRegistered)), legend: MANAGER_NAME }],
  ).axisSoftMin(0);
