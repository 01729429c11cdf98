/** An operator's call for an erasure waits a second for its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErasuresOptions, erasures } from '../../../actors/operators/operator-erasures.ts';
import { deferred } from '../../testbed/deferred.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';

/** The erasures of a tenant with one shop. The erasure ends when the test says so. */
function operatorOf(tenantId: string) {
  const clock = new FakeClock();
  const { promise: ended, resolve: finish } = deferred();
  const state = { isGone: false, erasing: new Set([`${tenantId}-shop`]), erasingPeople: new Set<string>() };
  const actors = { ask: async () => ({ ok: true, value: true }), state: async () => state };
  const options = { clock, actors, erasure: { run: () => ended } };
  return {
    clock,
    deleted: erasures(options as unknown as ErasuresOptions).deleteTenant(tenantId),
    end() {
      state.isGone = true;
      finish();
    },
  };
}

test('an erasure that ends within a second is answered as done', async () => {
  const { deleted, end } = operatorOf('quick');
  end();
  assert.deepEqual(await deleted, { ok: true, value: { id: 'quick', deleted: true } });
});

test('an erasure that takes longer is answered after a second, with the number of shops left', async () => {
  const { clock, deleted } = operatorOf('slow');
  await clock.advance(1_000);
  const value = { id: 'slow', deleted: false, shopsLeft: 1, peopleLeft: 0 };
  assert.deepEqual(await deleted, { ok: true, value });
});
