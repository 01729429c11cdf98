/** Shops on the network in memory have numbers of their own, as a number is connected at one shop of a tenant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPhoneNumber } from '../../policy/recipient.ts';
import { objectIdGenerator } from '../../runtime/object-id.ts';
import { DEFAULT_MEMORY_BEHAVIOUR } from '../testbed/memory-network/memory-behaviour.ts';
import { seededRandom } from '../testbed/seeded-random.ts';

test('shops made in different seconds, when the counter of their ids begins again, share no number', () => {
  const makeId = objectIdGenerator(seededRandom(1));
  const startMs = Date.parse('2027-01-01T00:00:00Z');
  const numbers = Array.from({ length: 2_000 }, (_, index) =>
    DEFAULT_MEMORY_BEHAVIOUR.phone({ shard: 0, tenantId: '', shopId: makeId(startMs + index * 250) }),
  );
  assert.equal(new Set(numbers).size, numbers.length);
  assert.ok(numbers.every((number) => isPhoneNumber(`+${number}`)));
});
