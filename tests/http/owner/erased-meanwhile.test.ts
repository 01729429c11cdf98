/** A tenant that is erased while its owner answers a call that another node took. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  ADMIN_TOKEN,
  localForwarder,
  type ServiceFixture,
  startService,
  targetOf,
} from '../service-fixture.ts';
import type { Target } from '../target.ts';

let owner: ServiceFixture;
let edge: ServiceFixture;
let target: Target;
let asked = 0;
let looks = 0;

before(async () => {
  owner = await startService();
  edge = await startService({
    keys: owner.actors.keys,
    forwarder: {
      ...localForwarder,
      ownerIsLocal: () => false,
      // Another owner is there whenever the edge looks for one.
      ownership: () => `owner ${++looks}`,
      forward(_, payload) {
        asked += 1;
        return owner.serveForwarded(payload);
      },
    },
  });
  target = await targetOf(edge);
});
after(async () => {
  target?.close();
  await edge?.stop();
  await owner?.stop();
});

/** Begins a call that lists shops, erases the tenant before the owner reads it, and returns the reply. */
async function erasedMeanwhile(
  call: (tenant: { id: string; key: string }) => ReturnType<Target['api']['call']>,
) {
  const tenant = await target.tenant();
  const begun = owner.calls.begins('listShops');
  const release = owner.calls.hold('listShops');
  asked = 0;
  const reply = call(tenant);
  await begun;
  await owner.actors.operators.deleteTenant(tenant.id);
  release();
  const { status, body } = await reply;
  return { status, code: body.error.code, asked };
}

test('a tenant’s call is 401, and no other owner is asked', async () => {
  const reply = await erasedMeanwhile(({ key }) => target.api.call('GET', '/shops', { key }));
  assert.deepEqual(reply, { status: 401, code: 'API_KEY_INVALID', asked: 1 });
});

test('an operator’s call is 404: the token is valid', async () => {
  const reply = await erasedMeanwhile(({ id }) =>
    target.admin.call('GET', `/tenants/${id}/shops`, { key: ADMIN_TOKEN }),
  );
  assert.deepEqual(reply, { status: 404, code: 'NOT_FOUND', asked: 1 });
});
