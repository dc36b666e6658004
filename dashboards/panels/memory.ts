/** Process memory and what else the kernel tells: evidence, in a row of its own. */
import * as units from '@grafana/grafana-foundation-sdk/units';
import {
  serverChildProcesses,
  serverMemoryLimit,
  serverOpenFds,
  serverResidentMemory,
} from '../../src/metrics/catalogue.ts';
import { lines, type Panel } from '../kit/panel.ts';
import { unitOf } from '../kit/units.ts';
import { by } from '../promql.ts';
import { bytesPerSession } from '../rules/names.ts';
import { chosen, WORKER, type Scope } from './scope.ts';

const NAME = '{{target}} {{build}} worker {{worker}}';

export const residentMemory = (scope: Scope): Panel =>
  lines(
    {
      title: 'Resident memory',
      says:
        'Resident memory of each server process, and the limit of its control group where there is one. Evidence, not verdict: ' +
        'an allocator’s own noise hides a small leak and looks like one where there is none.',
      unit: unitOf(serverResidentMemory),
      width: 12,
    },
    [
      { expr: by('max', WORKER, chosen(scope, serverResidentMemory)), legend: NAME },
      { expr: by('max', WORKER, chosen(scope, serverMemoryLimit)), legend: `${NAME} limit` },
    ],
  )
    .axisSoftMin(0)
    .overrideByRegexp('/ limit$/', [{ id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 6] } }]);

export const memoryPerSession = (scope: Scope): Panel =>
  lines(
    {
      title: 'Memory per retained session',
      says: 'Growth of resident memory per session that the registry grew by. No line while the registry does not grow. Times the cap, it says what the cap of one manager costs.',
      unit: unitOf(serverResidentMemory),
      width: 12,
    },
    [{ expr: by('max', WORKER, chosen(scope, bytesPerSession)), legend: NAME }],
  ).axisSoftMin(0);

export const openFds = (scope: Scope): Panel =>
  lines(
    {
      title: 'Open file descriptors',
      says: 'Of each server process. A session has one only while a request or stream is open; growth while nothing is in flight is a leak of connections or pipes.',
      unit: unitOf(serverOpenFds),
      width: 12,
    },
    [{ expr: by('max', WORKER, chosen(scope, serverOpenFds)), legend: NAME }],
  ).axisSoftMin(0);

export const children = (scope: Scope): Panel =>
  lines(
    {
      title: 'Child processes',
      says: 'Living descendants of each server process. Servers that start a process for a session must end it with the session.',
      unit: units.Short,
      width: 12,
    },
    [{ expr: by('max', WORKER, chosen(scope, serverChildProcesses)), legend: NAME }],
  ).axisSoftMin(0);
