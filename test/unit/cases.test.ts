import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planOf, type PlayStage } from '../../src/cases/case.ts';
import { CASES } from '../../src/cases/index.ts';
import { pick } from '../../src/cases/pick.ts';
import { REFUSALS } from '../../src/protocol/refusals.ts';
import { CLAIMS } from '../../src/verdict/claims/index.ts';

const stagesOf = (definition: (typeof CASES)[number]) =>
  definition.stages({ size: definition.size, settings: definition.settings });
const played = CASES.flatMap((definition) =>
  stagesOf(definition).filter((stage): stage is PlayStage => stage.kind === 'play'),
);

test('every claim of a case is defined, and every defined claim belongs to a case', () => {
  const named = new Set(CASES.flatMap((definition) => definition.claims));
  assert.deepEqual([...named].sort(), [...CLAIMS.keys()].sort());
});

test('stage names are unique within a case, and what is resumed was played before', () => {
  for (const definition of CASES) {
    const stages = stagesOf(definition);
    assert.equal(new Set(stages.map((stage) => stage.name)).size, stages.length, definition.id);
    const sizes = new Map<string, number>();
    for (const stage of stages.filter((s): s is PlayStage => s.kind === 'play')) {
      for (let index = 0; index < stage.sessions; index++)
        for (const step of planOf(stage, 1, index))
          // A plan may take up its own session again.
          if (step.do === 'resume' && step.stage === stage.name) assert.equal(step.index, index);
          else if (step.do === 'resume')
            assert.ok(
              step.index < (sizes.get(step.stage) ?? 0),
              `${definition.id} ${stage.name} resumes ${step.stage}:${step.index}`,
            );
      sizes.set(stage.name, stage.sessions);
    }
  }
});

test('property: a plan is a pure function of seed, stage and index', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(100_000), fc.constantFrom(...played), (seed, index, stage) => {
      assert.deepEqual(planOf(stage, seed, index), planOf(stage, seed, index));
    }),
  );
});

test('plans differ by seed and by index', () => {
  const texts = new Set(
    [0, 1, 2, 65_536, 65_537].flatMap((index) => [1, 2].map((seed) => pick(seed, 'load', index).text())),
  );
  assert.equal(texts.size, 10);
});

test('plans are the same in every release: k6 and recordings rely on them', () => {
  assert.deepEqual(
    [pick(1, 'load', 0).int(1000), pick(1, 'load', 1).int(1000), pick(7, 'after', 65_536).int(1000)],
    GOLDEN,
  );
});

const GOLDEN = [293, 351, 197];

test('property: whole numbers stay below their bound', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 1e6 }), (seed, index, below) => {
      const value = pick(seed, 's', index).int(below);
      assert.ok(Number.isInteger(value) && value >= 0 && value < below);
    }),
  );
});

test('the reject case plays every kind of refused opening', () => {
  const reject = CASES.find((definition) => definition.id === 'reject');
  assert.ok(reject);
  const kinds = new Set<string>();
  for (const stage of stagesOf(reject).filter((s): s is PlayStage => s.kind === 'play'))
    for (let index = 0; index < stage.sessions; index++)
      for (const step of planOf(stage, 1, index)) if (step.do === 'refuse') kinds.add(step.kind);
  assert.deepEqual([...kinds].sort(), REFUSALS.map((refusal) => refusal.kind).sort());
});
