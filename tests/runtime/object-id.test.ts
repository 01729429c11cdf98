import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isObjectId, objectIdGenerator } from '../../runtime/object-id.ts';
import { propertyRuns } from '../testbed/property-runs.ts';
import { seededRandom } from '../testbed/seeded-random.ts';

test('ids are in the order of their making, under any wall clock, and contain its seconds', (context) => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 2 }),
      fc.nat(),
      (moments, seed) => {
        const startMs = Date.parse('2026-03-01T08:00:00Z');
        const makeId = objectIdGenerator(seededRandom(seed));
        const ids = moments.map((atMs) => makeId(startMs + atMs));
        assert.ok(ids.every(isObjectId));
        assert.deepEqual(ids.toSorted(), ids);
        assert.equal(new Set(ids).size, ids.length);
        const latestMs = startMs + Math.max(...moments);
        assert.equal(Number.parseInt(ids.at(-1)?.slice(0, 8) ?? '', 16), Math.floor(latestMs / 1_000));
      },
    ),
    propertyRuns(context, 100),
  );
});

test('two generators of one second make different ids', () => {
  const [one, other] = [1, 2].map((seed) => objectIdGenerator(seededRandom(seed))(1_000));
  assert.notEqual(one, other);
});
