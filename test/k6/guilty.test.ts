/** Each claim of the load scripts is seen to fail on a server that is guilty of breaking it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FAULTS, type Fault } from '../fixtures/servers/suspect/faults.ts';
import { suspectConfig } from '../support/measure.ts';
import { ranBy } from '../support/k6/run.ts';
import { caseOf, environmentOf } from '../support/k6/scripts.ts';
import { served } from '../support/k6/served.ts';

const guilty: [string, Fault][] = Object.entries(FAULTS).filter(([, fault]) => fault.breaks.length > 0);

describe('a guilty server fails the claims that it breaks', { concurrency: 3 }, () => {
  for (const [name, fault] of guilty)
    for (const definition of new Set(fault.breaks.map(caseOf)))
      test(`${definition.id} on ${name}: ${fault.says}`, async (t) => {
        const { url, metrics } = await served(t, 'suspect', definition.settings, suspectConfig(name));
        const env = { TARGET: url, METRICS: metrics, SESSIONS: '40', ...environmentOf(definition) };
        const ran = await ranBy('stand-in', definition.id, env);
        const claims = ran.played?.claims ?? [];
        for (const claim of fault.breaks.filter((broken) => caseOf(broken) === definition)) {
          const found = claims.find(({ id }) => id === claim);
          assert.equal(found?.status, 'fail', `${claim}: ${JSON.stringify(claims)} ${ran.stderr}`);
        }
        assert.deepEqual([ran.code, ran.report?.verdict], [99, 'fail'], ran.stderr);
        assert.match(ran.junit ?? '', /<failure message=/);
      });
});
