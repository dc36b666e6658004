/** Sessions coming and going. */
import {
  sessionExpirations,
  sessionRegistrations,
  sessionRejections,
  sessionRemovals,
} from '../../src/metrics/catalogue.ts';
import { lines, type Panel } from '../kit/panel.ts';
import { rateUnitOf, unitOf } from '../kit/units.ts';
import { expirationShare, rejectionShare } from '../rules/names.ts';
import { BUILD, chosen, rate, type Scope } from './scope.ts';

const NAME = '{{target}} {{build}}';

export const comingAndGoing = (scope: Scope): Panel =>
  lines(
    {
      title: 'Registrations and removals',
      says: 'Sessions added to and removed from the registry per second. In a steady state the two are equal; a lasting gap is growth.',
      unit: rateUnitOf(sessionRegistrations),
      width: 12,
    },
    [
      { expr: rate(scope, sessionRegistrations, BUILD), legend: `${NAME} registrations` },
      { expr: rate(scope, sessionRemovals, BUILD), legend: `${NAME} removals` },
    ],
  ).axisSoftMin(0);

export const removalsByReason = (scope: Scope): Panel =>
  lines(
    {
      title: 'Removals by reason',
      says: 'Sessions removed per second because they were idle for too long (expiry), and for any other reason: DELETE, a crash of the session, shutdown.',
      unit: rateUnitOf(sessionRemovals),
      width: 12,
    },
    [
      { expr: rate(scope, sessionExpirations, BUILD), legend: `${NAME} expiry` },
      {
        expr: `${rate(scope, sessionRemovals, BUILD)} - ${rate(scope, sessionExpirations, BUILD)}`,
        legend: `${NAME} other`,
      },
    ],
  ).axisSoftMin(0);

export const rejections = (scope: Scope): Panel =>
  lines(
    {
      title: 'Rejections',
      says: 'Openings refused per second because the cap was reached. Clients see it as 503: either the cap is too low, or sessions are not let go.',
      unit: rateUnitOf(sessionRejections),
      width: 12,
    },
    [{ expr: rate(scope, sessionRejections, BUILD), legend: NAME }],
  ).axisSoftMin(0);

export const shares = (scope: Scope): Panel =>
  lines(
    {
      title: 'Shares of expiry and rejection',
      says: 'Expiry’s share of the removals: near 100 %, clients leave without DELETE and the timeout does the work. Rejections’ share of the openings.',
      unit: unitOf(expirationShare),
      width: 12,
    },
    [
      { expr: chosen(scope, expirationShare), legend: `${NAME} expiry of removals` },
      { expr: chosen(scope, rejectionShare), legend: `${NAME} rejections of openings` },
    ],
  ).min(0);
