/** The line is lost before the network acknowledged a message, from the wire to the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customer } from '../../testbed/customer.ts';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, untilEnded, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110001';

const stack = sharedStack({}, async () => {
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: [1, 2, 3].map(customer) });
  await connectShop(stack, stack.shopId, SHOP_PHONE);
});

const sentSoFar = async () => (await stack.network.sessions()).items[0]?.sent ?? { stanzas: 0, lost: 0 };

/** Sends a message that meets the fault; its id once it left. It has no outcome yet. */
async function unanswered(to: string, fault: 'lost' | 'unacked'): Promise<string> {
  const { stanzas, lost } = await sentSoFar();
  await stack.network.fault(SHOP_PHONE, fault);
  const { status, error, data } = await sendText(stack, stack.shopId, { to, text: 'Your bread is ready' });
  assert.equal(status, 202, JSON.stringify(error));
  await until('the message left', async () => {
    const now = await sentSoFar();
    return now.stanzas + now.lost > stanzas + lost;
  });
  return String(data.id);
}

const shown = async (phone: string): Promise<unknown[]> =>
  (await stack.network.inbox(phone)).items.map(({ text, duplicates }) => [text, duplicates]);

for (const [index, fault, duplicates] of [
  [1, 'unacked', 1],
  [2, 'lost', 0],
] as const) {
  test(`a message that was ${fault} on a lost line is sent, and its recipient sees it once`, async () => {
    // A phone that is off does not report the message, so only the next connection's acknowledgement counts.
    await stack.network.setHandset(customer(index), false);
    const id = await unanswered(customer(index), fault);
    await stack.network.fault(SHOP_PHONE, 'drop');
    await untilStatus(stack, id, 'sent');
    await stack.network.setHandset(customer(index), true);
    assert.deepEqual(await shown(customer(index)), [['Your bread is ready', duplicates]]);
  });
}

test('a message is not sent again to a person who writes STOP during the loss of the connection', async () => {
  const id = await unanswered(customer(3), 'lost');
  await stack.network.fault(SHOP_PHONE, 'login_unavailable');
  await stack.network.write(customer(3), { to: SHOP_PHONE, text: 'STOP', wait: false });
  const { status, reason } = await untilEnded(stack, id);
  assert.deepEqual([status, reason], ['failed', 'DELIVERY_UNKNOWN']);
  const refusedAnswer = await sendText(stack, stack.shopId, { to: customer(3), text: 'Are you sure?' });
  assert.equal(refusedAnswer.error?.code, 'RECIPIENT_OPTED_OUT');
  assert.deepEqual(await shown(customer(3)), []);
});
