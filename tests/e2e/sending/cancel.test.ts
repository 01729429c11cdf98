/** Messages are cancelled while they wait, one by one and many at once, at the shop and at the pool. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PERMISSIONS } from '../../../actors/permission.ts';
import { customer } from '../../testbed/customer.ts';
import { apiClient } from '../stack/api-client.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { acceptedText, connectShop, sentText, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110001';
const POOL_PHONE = '+33611119999';

// After its first message a number rests for longer than the tests take, so that what follows waits.
const stack = sharedStack({ gapMs: '600000-600000' }, async () => {
  const phones = Array.from({ length: 20 }, (_, index) => customer(index));
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones });
  await stack.admin.patch(`/tenants/${stack.tenantId}`, { poolFallback: true });
});

async function send(index: number, idempotencyKey: string): Promise<string> {
  const to = customer(index);
  return acceptedText(stack, stack.shopId, { to, text: `for ${index}`, idempotencyKey });
}

const today = async (): Promise<number> => {
  const { data } = await stack.api.get(`/shops/${stack.shopId}/policy`);
  return (data.usage as { today: number }).today;
};

// Each step finds the queue that the former ones left.
test('messages are cancelled while they wait', async (context) => {
  await context.test(
    'a pending message shows its position, and is cancelled; the others keep their order',
    async () => {
      await connectShop(stack, stack.shopId, SHOP_PHONE);
      await untilStatus(stack, await send(0, 'first'), 'sent');
      const ids = [await send(1, 'a-1'), await send(2, 'a-2'), await send(3, 'b-1')];
      const records = await Promise.all(ids.map(async (id) => (await stack.api.get(`/messages/${id}`)).data));
      assert.deepEqual(
        records.map(({ position }) => position),
        [1, 2, 3],
      );
      const times = records.map(({ estimatedSendAt }) => Date.parse(String(estimatedSendAt)));
      assert.ok(times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0)));
      const cancelled = await stack.api.post(`/messages/${ids[0]}/cancel`);
      assert.deepEqual(
        [cancelled.status, cancelled.data.status, cancelled.data.reason],
        [200, 'failed', 'CANCELLED'],
      );
      assert.equal('position' in cancelled.data, false);
      assert.equal((await stack.api.post(`/messages/${ids[0]}/cancel`)).status, 200);
      const { data } = await stack.api.get(`/shops/${stack.shopId}/messages?status=queued`);
      assert.deepEqual(
        (data.items as { id: string; position: number }[]).map(({ id, position }) => [id, position]),
        [
          [ids[2], 2],
          [ids[1], 1],
        ],
      );
      assert.equal(await today(), 3);
    },
  );

  await context.test(
    'a sent message cannot be cancelled, and another tenant’s message does not exist',
    async () => {
      const { data } = await stack.api.get(`/shops/${stack.shopId}/messages?status=sent`);
      const [sent] = data.items as { id: string }[];
      const refused = await stack.api.post(`/messages/${sent?.id}/cancel`);
      assert.deepEqual([refused.status, refused.error?.code], [409, 'NOT_CANCELLABLE']);
      const missing = await stack.api.post('/messages/65f000000000000000000001/cancel');
      assert.deepEqual([missing.status, missing.error?.code], [404, 'MESSAGE_NOT_FOUND']);
    },
  );

  await context.test(
    'the matching messages of a queue are cancelled, by its tenant and by operators',
    async () => {
      const path = `/shops/${stack.shopId}/queue/cancel`;
      assert.equal((await stack.api.post(path, {})).status, 422);
      assert.deepEqual((await stack.api.post(path, { idempotencyKeyPrefix: 'a-' })).data, { cancelled: 1 });
      await send(4, 'c-1');
      await stack.admin.post(`/actors/${stack.tenantId}/${stack.shopId}/pause`, {});
      const { data: waiting } = await stack.api.get(`/shops/${stack.shopId}/messages?status=queued`);
      assert.deepEqual(
        (waiting.items as { estimatedSendAt: unknown }[]).map(({ estimatedSendAt }) => estimatedSendAt),
        [null, null],
      );
      const ofOperators = `/actors/${stack.tenantId}/${stack.shopId}/queue/cancel`;
      const acceptedBefore = new Date(Date.now() + 60_000).toISOString();
      assert.deepEqual((await stack.admin.post(ofOperators, { acceptedBefore })).data, { cancelled: 2 });
      assert.equal(await today(), 1);
    },
  );

  await context.test('the pool gives a cancelled message back', async () => {
    const limits = { minute: 6_000, hour: 100_000, day: 1_000_000 };
    const tenant = await stack.admin.post('/tenants', { name: 'Platform', plan: 'scale', platform: true });
    const tenantId = String(tenant.data.id);
    const shop = await stack.admin.post(`/tenants/${tenantId}/shops`, { name: 'Pool 1' });
    const key = { name: 'p', permissions: PERMISSIONS, limits };
    const made = await stack.admin.post(`/tenants/${tenantId}/keys`, key);
    const platform = { ...stack, api: apiClient(stack.apiUrl, String(made.data.key)) };
    const poolId = String(shop.data.id);
    await connectShop(platform, poolId, POOL_PHONE);
    await sentText(platform, poolId, { to: '+33633330000', text: 'The pool’s own' });
    await stack.admin.post(`/actors/${stack.tenantId}/${stack.shopId}/resume`, {});
    await stack.api.post(`/shops/${stack.shopId}/channels/msgapp/disconnect`);
    const ids = [await send(5, 'd-1'), await send(6, 'd-2')];
    assert.equal((await stack.api.get(`/messages/${ids[0]}`)).data.via, 'pool');
    const cancelled = await stack.api.post(`/messages/${ids[0]}/cancel`);
    assert.deepEqual(
      [cancelled.status, cancelled.data.reason],
      [200, 'CANCELLED'],
      JSON.stringify(cancelled),
    );
    const rest = await stack.api.post(`/shops/${stack.shopId}/queue/cancel`, { idempotencyKeyPrefix: 'd-' });
    assert.deepEqual(rest.data, { cancelled: 1 });
    const { data } = await platform.api.get(`/shops/${poolId}/policy`);
    assert.deepEqual(
      [(data.usage as { today: number }).today, (data.queue as { length: number }).length],
      [1, 0],
    );
    assert.equal(await today(), 1);
  });
});
