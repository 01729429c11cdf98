import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageContent } from '../../../actors/shops/message-content.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import type { Target } from '../target.ts';

/** A value for each field of a content. A field without one does not compile, and its default would prove nothing. */
const CONTENT = {
  text: 'Your order is ready.',
  mediaUrl: 'https://example.com/order.mp4',
  mediaType: 'video',
} as const satisfies { readonly [Field in keyof MessageContent]: NonNullable<MessageContent[Field]> };

/** The fields of its call that a message keeps. */
const OF_CALL = { idempotencyKey: 'order-1', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };

/** Throws unless a reply has these values, beside any others. */
function shows(reply: object, values: object): void {
  assert.deepEqual(reply, { ...reply, ...values });
}

/** Makes a connected shop with a customer. */
async function connectedShop({ api, tenant, admin, adminToken, shop, connect }: Target, to: string) {
  const owner = await tenant();
  const shopId = await shop(owner);
  await connect(owner.key, shopId);
  const json = { phones: [to] };
  await admin.call('POST', `/tenants/${owner.id}/customers`, { key: adminToken, json });
  const post = async (path: string, body: object) => {
    const { idempotencyKey, traceparent } = OF_CALL;
    const reply = await api.call('POST', `/shops/${shopId}${path}`, {
      key: owner.key,
      json: { ...CONTENT, ...body, idempotencyKey },
      headers: { traceparent },
    });
    assert.ok([201, 202].includes(reply.status), reply.text);
    return String(reply.body.data.id);
  };
  const read = async (path: string) => {
    const reply = await api.call('GET', path, { key: owner.key });
    assert.equal(reply.status, 200, reply.text);
    return reply.body.data;
  };
  return { shopId, post, read };
}

/** docs/contract.md, Resources: each field of a content is read back as it was sent. */
export function contentRows(target: () => Target): void {
  const to = '+41791234501';

  test('a message that is sent with every field has each of them on its record and in the list', async () => {
    const { shopId, post, read } = await connectedShop(target(), to);
    const id = await post('/messages', { channel: 'msgapp', to });
    const [listed] = (await read(`/shops/${shopId}/messages`)).items;
    for (const shown of [await read(`/messages/${id}`), listed])
      shows(shown, { id, to, ...CONTENT, ...OF_CALL });
  });

  test('a scheduled send with every field shows each of them', async () => {
    const { shopId, post, read } = await connectedShop(target(), to);
    const sendAt = new Date(Date.now() + DAY_MS).toISOString();
    const id = await post('/scheduled', { channel: 'msgapp', to, sendAt });
    const [listed] = (await read(`/shops/${shopId}/scheduled`)).items;
    const { idempotencyKey } = OF_CALL;
    for (const shown of [await read(`/shops/${shopId}/scheduled/${id}`), listed])
      shows(shown, { id, to, ...CONTENT, idempotencyKey });
  });

  test('a batch with every field shows each of them, and so does each of its messages', async () => {
    const { shopId, post, read } = await connectedShop(target(), to);
    const id = await post('/batches', { name: 'orders', recipients: [{ to }] });
    shows(await read(`/shops/${shopId}/batches/${id}`), { id, ...CONTENT });
    const message = await until('the batch makes its message', async () => {
      const [first] = (await read(`/shops/${shopId}/messages`)).items;
      return first;
    });
    shows(message, { batchId: id, to, ...CONTENT });
  });
}
