/** A recipient writes STOP while a message to them is on its way. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { listening } from '../../testbed/listening.ts';
import { until } from '../../testbed/waiting.ts';
import { startServiceStack } from '../stack/service-stack.ts';
import { connectShop, sendText, untilEnded, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110041';
const CUSTOMER = '+33622220041';

test('after a STOP a message is rejected and reaches no one, even if its attachment arrives later', async (context) => {
  const media = createServer();
  const port = await listening(media);
  const stack = await startServiceStack();
  context.after(async () => {
    media.close();
    await stack.stop();
  });
  await connectShop(stack, stack.shopId, SHOP_PHONE);
  const asked = once(media, 'request');
  const acceptedAnswer = await stack.api.post(`/shops/${stack.shopId}/messages`, {
    channel: 'msgapp',
    to: CUSTOMER,
    mediaUrl: `http://127.0.0.1:${port}/prices.pdf`,
    mediaType: 'document',
  });
  assert.equal(acceptedAnswer.status, 202);
  const id = String(acceptedAnswer.data.id);
  const [, answer] = (await asked) as [unknown, ServerResponse];
  assert.equal((await stack.api.get(`/messages/${id}`)).data.status, 'queued');
  await stack.network.write(CUSTOMER, { to: SHOP_PHONE, text: 'STOP' });
  await until('the message is rejected', async () => {
    const { data } = await stack.api.get(`/messages/${id}`);
    return data.status === 'rejected';
  });
  answer.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4 prices');
  const { status, reason } = await untilEnded(stack, id);
  assert.deepEqual([status, reason], ['rejected', 'RECIPIENT_OPTED_OUT']);
  assert.deepEqual((await stack.network.inbox(CUSTOMER)).items, []);
});

/** How long the network takes to acknowledge a message, in milliseconds of its own time. */
const ACK_MS = 5_000;

test('a message that reached no one is not sent to the new LID of a recipient who sent STOP meanwhile', async (context) => {
  const stack = await startServiceStack({ simulation: { ackDelayMs: ACK_MS } });
  const { admin, api, network, shopId, tenantId } = stack;
  const send = async (text: string): Promise<string> => {
    const { status, data, error } = await sendText(stack, shopId, { to: CUSTOMER, text });
    assert.equal(status, 202, JSON.stringify(error));
    const id = String(data.id);
    await until(
      'it is on the wire',
      async () => (await api.get(`/messages/${id}`)).data.status === 'sending',
    );
    return id;
  };
  context.after(() => stack.stop());
  await admin.post(`/tenants/${tenantId}/customers`, { phones: [CUSTOMER] });
  await connectShop(stack, shopId, SHOP_PHONE);
  const before = await send('before');
  await network.forward(ACK_MS);
  await untilStatus(stack, before, 'sent');
  await network.write(CUSTOMER, { to: SHOP_PHONE, text: 'and when?' });
  await network.changeLid(CUSTOMER);
  const after = await send('after');
  assert.equal((await network.write(CUSTOMER, { to: SHOP_PHONE, text: 'STOP' })).delivered, true);
  await network.forward(ACK_MS);
  const { status, reason } = await untilEnded(stack, after);
  const { items } = await network.inbox(CUSTOMER);
  assert.deepEqual([status, reason, items.map(({ text }) => text)], ['failed', 'SEND_REFUSED', ['before']]);
});
