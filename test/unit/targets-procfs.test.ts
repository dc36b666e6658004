import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { parsePs } from '../../src/observe/process.ts';
import {
  memoryLimitFiles,
  parseChildren,
  parseLimit,
  parseListening,
  parseMemTotal,
  parseResidentBytes,
  parseStat,
} from '../../src/observe/procfs.ts';

const stat = (name: string, state = 'S'): string =>
  `4711 (${name}) ${state} 12 4700 4700 0 -1 4194560 100 0 0 0 5 3 0 0 20 0 4 0 987654 1000 200 18446744073709551615\n`;

test('a stat line is read whatever the program is called', () => {
  fc.assert(
    fc.property(fc.string(), (name) => {
      assert.deepEqual(parseStat(stat(name)), {
        pid: 4711,
        parent: 12,
        group: 4700,
        startTicks: 987654,
        living: true,
      });
    }),
  );
  assert.equal(parseStat(stat(') Z 1 ('))?.living, true);
});

test('zombies and the dead are not living, and what is no stat line is null', () => {
  for (const state of ['Z', 'X', 'x']) assert.equal(parseStat(stat('python', state))?.living, false);
  for (const text of ['', 'nonsense', '12 (cut', '12 (cut) S 1']) assert.equal(parseStat(text), null);
});

test('resident memory is VmRSS; a zombie has none', () => {
  assert.equal(parseResidentBytes('Name:\tpython\nVmHWM:\t   9000 kB\nVmRSS:\t   5120 kB\n'), 5120 * 1024);
  assert.equal(parseResidentBytes('Name:\tpython\nState:\tZ (zombie)\n'), null);
});

test('children are numbers apart by spaces', () => {
  assert.deepEqual(parseChildren('12 345 \n'), [12, 345]);
  assert.deepEqual(parseChildren(''), []);
});

test('the limits of every group on the way up are looked at, in both versions of cgroups', () => {
  assert.deepEqual(memoryLimitFiles('0::/user.slice/app.scope\n'), [
    '/sys/fs/cgroup/user.slice/app.scope/memory.max',
    '/sys/fs/cgroup/user.slice/memory.max',
    '/sys/fs/cgroup/memory.max',
  ]);
  assert.deepEqual(memoryLimitFiles('7:cpu,cpuacct:/a\n4:memory:/docker/x\n'), [
    '/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes',
    '/sys/fs/cgroup/memory/docker/memory.limit_in_bytes',
    '/sys/fs/cgroup/memory/memory.limit_in_bytes',
  ]);
  assert.deepEqual(memoryLimitFiles('0::/../outside\n').at(-1), '/sys/fs/cgroup/memory.max');
  assert.deepEqual(memoryLimitFiles('nonsense'), []);
});

test('a limit is a number of bytes; "max" and the huge number of version 1 are none', () => {
  assert.equal(parseLimit('536870912\n'), 536870912);
  for (const none of ['max\n', '9223372036854771712\n', '']) assert.equal(parseLimit(none), null);
});

test('memory of the machine and of ps are in KiB', () => {
  assert.equal(parseMemTotal('MemTotal:       16306044 kB\nMemFree: 1 kB\n'), 16306044 * 1024);
  assert.equal(parsePs('  20480\n')?.rssBytes, 20480 * 1024);
  assert.equal(parsePs('\n'), null);
});

test('listening sockets of a port are found, connections on it are not', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 100',
    '   1: 0100007F:1F90 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 222 1 0 100',
    '   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 333 1 0 100',
  ].join('\n');
  assert.deepEqual(parseListening(table, 8080), ['111']);
});
