/** The answers of a shop that never had a session, or lost its session, through the API. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DAY_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { type MemoryStack, startMemoryStack } from '../stack/memory-stack.ts';
import { sendText, untilStatus } from '../stack/shop-steps.ts';

let stack: MemoryStack;
before(async () => {
  stack = await startMemoryStack({ paired: true, pairedAgoMs: 8 * DAY_MS });
});
after(() => stack.stop());

async function statusOf(shopId: string): Promise<unknown> {
  return (await stack.api.get(`/shops/${shopId}`)).data.channelStatus;
}

test('channelStatus.msgapp is null until the shop was connected once, and a group send is 503', async () => {
  const createdAnswer = await stack.api.post('/shops', { name: 'Never scanned' });
  const shopId = String(createdAnswer.data.id);
  assert.deepEqual(await statusOf(shopId), { msgapp: null });
  const toGroup = await sendText(stack, shopId, { to: '120363000000000001@g.us', text: 'Hello all' });
  assert.deepEqual([toGroup.status, toGroup.error?.code], [503, 'MSGAPP_NOT_CONNECTED']);
  stack.network.behave({ paired: false });
  const askedAnswer = await stack.api.post(`/shops/${shopId}/channels/msgapp/connect`);
  assert.equal(askedAnswer.data.status, 'qr_waiting');
  assert.deepEqual(await statusOf(shopId), { msgapp: null });
  stack.network.scan(stack.session(shopId), '+33611110044');
  await until('the shop is connected', async () => {
    const polled = await stack.api.get(`/shops/${shopId}/channels/msgapp/connect`);
    return polled.data.status === 'connected';
  });
  assert.deepEqual(await statusOf(shopId), { msgapp: 'connected' });
  await stack.api.post(`/shops/${shopId}/channels/msgapp/disconnect`);
  assert.deepEqual(await statusOf(shopId), { msgapp: 'disconnected' });
  stack.network.behave({ paired: true });
});

test('a lost session answers 503 MSGAPP_SESSION_LOST, not the caps of a number paired today', async () => {
  const { shopId } = stack;
  await stack.api.post(`/shops/${shopId}/channels/msgapp/connect`);
  const customers = Array.from({ length: 13 }, (_, index) => `+336222200${String(index).padStart(2, '0')}`);
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: customers });
  // More than the 10 an hour of day 0, fewer than the 16 of day 8.
  const sends = customers.slice(0, 12).map((to) => sendText(stack, shopId, { to, text: `For ${to}` }));
  for (const { status, data } of await Promise.all(sends)) {
    assert.equal(status, 202);
    assert.equal((data.policy as { warmupDay: number }).warmupDay, 8);
    await untilStatus(stack, String(data.id), 'sent');
  }
  stack.network.drop(stack.session(shopId), 'logged_out', 401);
  const last = { to: customers[12] ?? '', text: 'One more' };
  await until('the loss is known', async () => {
    const { msgapp } = (await statusOf(shopId)) as { readonly msgapp: string };
    return msgapp === 'disconnected';
  });
  const refusedAnswer = await sendText(stack, shopId, last);
  assert.deepEqual([refusedAnswer.status, refusedAnswer.error?.code], [503, 'MSGAPP_SESSION_LOST']);
  assert.deepEqual(await statusOf(shopId), { msgapp: 'disconnected' });
});
