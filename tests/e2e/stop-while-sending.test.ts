/** A recipient who writes STOP while a message to them is prepared for the wire: its attachment is on its way to us. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startServiceStack } from './service-stack.ts';
import { connectShop, untilEnded } from './shop-steps.ts';
import { until } from './waiting.ts';

const SHOP_PHONE = '+33611110041';
const CUSTOMER = '+33622220041';

test('the message is rejected and reaches no one, though its attachment comes in the end', async () => {
  const media = createServer();
  media.listen(0, '127.0.0.1');
  await once(media, 'listening');
  const stack = await startServiceStack();
  try {
    await connectShop(stack, stack.shopId, SHOP_PHONE);
    const asked = once(media, 'request');
    const accepted = await stack.api.post(`/shops/${stack.shopId}/messages`, {
      channel: 'msgapp',
      to: CUSTOMER,
      mediaUrl: `http://127.0.0.1:${(media.address() as AddressInfo).port}/prices.pdf`,
      mediaType: 'document',
    });
    assert.equal(accepted.status, 202);
    const id = String(accepted.data.id);
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
  } finally {
    media.close();
    await stack.stop();
  }
});
