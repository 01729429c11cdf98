/** A look-up of a number that the network throttles or leaves open, from the wire to the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customer } from '../../testbed/customer.ts';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { acceptedText, connectShop, sendText, untilEnded, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110001';

const stack = sharedStack({}, async () => {
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: [1, 2, 3, 4].map(customer) });
  await connectShop(stack, stack.shopId, SHOP_PHONE);
});

const send = async (to: string): Promise<string> => {
  return acceptedText(stack, stack.shopId, { to, text: 'Your bread is ready' });
};

test('a number that the network leaves out of its answer is asked about again, and its message is sent', async () => {
  await stack.network.fault(SHOP_PHONE, 'unlisted', 2);
  await untilStatus(stack, await send(customer(1)), 'sent');
  assert.equal((await stack.network.inbox(customer(1))).items.length, 1);
});

test('a number that the network always leaves out of its answers fails after five tries and delays no other message', async () => {
  await stack.network.fault(SHOP_PHONE, 'unlisted', 5);
  const silent = await send(customer(2));
  const next = await send(customer(3));
  const { status, reason } = await untilEnded(stack, silent);
  assert.deepEqual([status, reason], ['failed', 'SEND_REFUSED']);
  await untilStatus(stack, next, 'sent');
});

test('one throttled look-up of a LID, after the number was found, pauses the queue too', async () => {
  const phone = '+33611110002';
  const { data } = await stack.api.post('/shops', { name: 'Second shop' });
  const shopId = String(data.id);
  await connectShop(stack, shopId, phone);
  await stack.network.usyncErrors(phone, { protocol: 'lid', code: 429, backoff: 3_600 });
  const sentAnswer = await sendText(stack, shopId, { to: customer(5), text: 'Your bread is ready' });
  await until('the queue is paused', async () => {
    const { queue } = (await stack.api.get(`/shops/${shopId}/policy`)).data as {
      queue: { pausedBy: string | null; length: number };
    };
    return queue.pausedBy === 'rate_signal' && queue.length === 1;
  });
  assert.equal((await stack.api.get(`/messages/${sentAnswer.data.id}`)).data.status, 'queued');
  assert.deepEqual((await stack.network.inbox(customer(5))).items, []);
});

test('a throttled look-up pauses the queue for the time that the network names, and rejects nothing', async () => {
  await stack.network.usyncErrors(SHOP_PHONE, { protocol: 'contact', code: 429, backoff: 3_600 });
  const askedMs = Date.now();
  const id = await send(customer(4));
  const policy = await until('the queue is paused', async () => {
    const { data } = await stack.api.get(`/shops/${stack.shopId}/policy`);
    const { queue } = data as { queue: { pausedBy: string | null; pausedUntil: string | null } };
    return queue.pausedBy === 'rate_signal' && queue;
  });
  const pausedMs = Date.parse(policy.pausedUntil ?? '') - askedMs;
  assert.ok(pausedMs >= 3_600_000 && pausedMs < 3_700_000, `${pausedMs} ms`);
  const { data } = await stack.api.get(`/messages/${id}`);
  assert.equal(data.status, 'queued');
});
