import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Target } from '../target.ts';

/** docs/contract.md, Pairing by code. */
export function pairingRows(target: () => Target): void {
  test('a code to type is in each poll; then the shop is linked: 409 MSGAPP_ALREADY_LINKED', async () => {
    const { api, tenant, shop, connect } = target();
    const owner = await tenant();
    const id = await shop(owner);
    const path = `/shops/${id}/channels/msgapp/pairing-code`;
    for (const [json, field] of [
      [{}, 'phone'],
      [{ phone: '0791234567' }, 'phone'],
      [{ phone: '+41791234567', code: 'MINE1234' }, 'code'],
    ] as const) {
      const bad = await api.call('POST', path, { key: owner.key, json });
      assert.deepEqual([bad.status, bad.body.error.code], [422, 'VALIDATION_ERROR']);
      assert.equal(bad.body.error.fields[0].field, field);
    }
    const json = { phone: '+41791234567' };
    const { data } = (await api.call('POST', path, { key: owner.key, json })).body;
    assert.match(data.code, /^[0-9A-Z]{8}$/);
    assert.ok(Date.parse(data.expiresAt) > Date.now());
    assert.deepEqual([data.status, data.pollAfterMs], ['starting', 2_000]);
    const linked = await shop(owner);
    await connect(owner.key, linked);
    const refusedReply = await api.call('POST', path.replace(id, linked), { key: owner.key, json });
    assert.deepEqual([refusedReply.status, refusedReply.body.error.code], [409, 'MSGAPP_ALREADY_LINKED']);
  });
}
