/** The network's refusal of a stranger (463), from the wire to the front door, the metrics and the next process. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServiceStack, startServiceStack } from './service-stack.ts';
import { connectShop, sendText, untilEnded, untilStatus } from './shop-steps.ts';
import { until } from './waiting.ts';

const SHOP_PHONE = '+33611110001';
const CUSTOMER = '+33622220001';
const stranger = (index: number): string => `+3369999${String(1_000 + index)}`;

let stack: ServiceStack;
before(async () => {
  stack = await startServiceStack();
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: [CUSTOMER] });
  await connectShop(stack, stack.shopId, SHOP_PHONE);
});
after(() => stack.stop());

test('after a 463 strangers get 429 with Retry-After, customers get their messages, also after a kill', async () => {
  await stack.network.ackErrors(SHOP_PHONE, 463);
  const first = await sendText(stack, stack.shopId, { to: stranger(0), text: 'Hello' });
  const { status, reason } = await untilEnded(stack, String(first.data.id));
  assert.deepEqual([status, reason], ['failed', 'SEND_REFUSED']);
  await refusedStranger(1);
  await stack.end('SIGKILL');
  await stack.start();
  await until('the shop is back', async () => {
    const { data } = await stack.api.get(`/shops/${stack.shopId}/channels/msgapp`);
    return data.status === 'connected';
  });
  await refusedStranger(2);
  const known = await sendText(stack, stack.shopId, { to: CUSTOMER, text: 'Your bread is ready' });
  assert.equal(known.status, 202, JSON.stringify(known.error));
  await untilStatus(stack, String(known.data.id), 'sent');
  const { data } = await stack.admin.get(`/actors/${stack.tenantId}/${stack.shopId}`);
  const { pacing } = data.details as { pacing: { coldPausedUntilMs: number } };
  assert.ok(pacing.coldPausedUntilMs > Date.now());
  await until('it is counted', async () => {
    const answer = await fetch(`${stack.adminUrl()}/metrics`, {
      headers: { authorization: `Bearer ${stack.adminToken}` },
    });
    return /^msgapi_shops_in_trouble\{trouble="cold_paused"\} 1$/m.test(await answer.text());
  });
});

async function refusedStranger(index: number): Promise<void> {
  const { status, error, headers } = await sendText(stack, stack.shopId, { to: stranger(index), text: 'Hi' });
  assert.deepEqual([status, error?.code], [429, 'COLD_RECIPIENT_CAP_REACHED']);
  const seconds = Number(headers.get('retry-after'));
  assert.ok(seconds > 86_400 - 120 && seconds <= 86_400, `${seconds} s`);
  assert.equal(error?.retryAfter, seconds);
}
