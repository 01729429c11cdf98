/**
 * Operators make a tenant inactive: from the PATCH to the queue of a shop that is there already, and to the console's
 * words.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DAY_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { type MemoryStack, startMemoryStack } from '../stack/memory-stack.ts';
import { sendText, untilStatus } from '../stack/shop-steps.ts';

let stack: MemoryStack;
before(async () => {
  stack = await startMemoryStack({ paired: true, pairedAgoMs: 30 * DAY_MS });
});
after(() => stack.stop());

test('PATCH of active pauses the queue of a shop that was connected before, and resumes it', async () => {
  const { admin, api, shopId, tenantId } = stack;
  const actor = `/actors/${tenantId}/${shopId}`;
  await api.post(`/shops/${shopId}/channels/msgapp/connect`);
  await until('the shop is connected', async () => {
    const { data } = await api.get(`/shops/${shopId}/channels/msgapp/connect`);
    return data.status === 'connected';
  });
  // Both wait, so that the PATCH finds a queue.
  await admin.post(`${actor}/pause`);
  const ids: string[] = [];
  for (const to of ['+33622220001', '+33622220002'])
    ids.push(String((await sendText(stack, shopId, { to, text: 'Your bread is ready' })).data.id));
  assert.equal((await admin.patch(`/tenants/${tenantId}`, { active: false })).status, 200);
  const refusedAnswer = await api.get('/me');
  assert.deepEqual([refusedAnswer.status, refusedAnswer.error?.code], [403, 'TENANT_INACTIVE']);
  // Now only the tenant's state pauses it. Otherwise the next message would be prepared here.
  await admin.post(`${actor}/resume`);
  const { data } = await admin.get(actor);
  const details = data.details as Record<string, unknown> & {
    queue: { depth: number };
    pacing: { state: string };
  };
  assert.deepEqual([details.tenantActive, details.queue.depth, details.pacing.state], [false, 2, 'idle']);
  const listedAnswer = await admin.get('/actors?state=tenant_inactive');
  const items = listedAnswer.data.items as { readonly shopId: string }[];
  assert.deepEqual(
    items.map((item) => item.shopId),
    [shopId],
  );
  assert.equal((await admin.patch(`/tenants/${tenantId}`, { active: true })).status, 200);
  for (const id of ids) await untilStatus(stack, id, 'sent');
});
