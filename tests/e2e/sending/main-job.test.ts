/**
 * From an API key to a message that the network acknowledged, through the API (docs/contract.md, whole). The tests are
 * steps of one: each needs the shop, the session or the message of those before it.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, untilConnected, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110001';
const CUSTOMER = '+33622220001';

const stack = sharedStack();

test('a tenant connects a shop, sends, is told to stop and restarts', async (context) => {
  await context.test('GET /me and GET /shops answer for the key', async () => {
    const me = await stack.api.get('/me');
    assert.equal(me.status, 200);
    assert.equal((me.data.tenant as { id: string }).id, stack.tenantId);
    const shops = await stack.api.get('/shops');
    assert.deepEqual(
      (shops.data.items as { id: string }[]).map(({ id }) => id),
      [stack.shopId],
    );
  });

  await context.test('POST /shops makes a shop that is found by name', async () => {
    const createdAnswer = await stack.api.post('/shops', { name: 'Harbour café' });
    assert.equal(createdAnswer.status, 201);
    assert.deepEqual(createdAnswer.data.setupRequired, ['location', 'operatingHours']);
    const foundAnswer = await stack.api.get(`/shops/${encodeURIComponent('HARBOUR CAFÉ')}`);
    assert.equal(foundAnswer.data.id, createdAnswer.data.id);
  });

  await context.test('GET connect before any POST connect is 409 MSGAPP_NOT_CONFIGURED', async () => {
    const answer = await stack.api.get(`/shops/${stack.shopId}/channels/msgapp/connect`);
    assert.deepEqual([answer.status, answer.error?.code], [409, 'MSGAPP_NOT_CONFIGURED']);
  });

  await context.test('a QR code is shown as text and image, and a scan connects the shop', async () => {
    const startedAnswer = await stack.api.post(`/shops/${stack.shopId}/channels/msgapp/connect`);
    assert.equal(startedAnswer.status, 200);
    assert.equal(startedAnswer.data.status, 'qr_waiting');
    assert.match(String(startedAnswer.data.qrImageDataUrl), /^data:image\/png;base64,iVBOR/);
    assert.equal(startedAnswer.data.pollAfterMs, 2_000);
    await connectShop(stack, stack.shopId, SHOP_PHONE);
    const channel = await stack.api.get(`/shops/${stack.shopId}/channels/msgapp`);
    assert.equal(channel.data.status, 'connected');
    assert.equal(channel.data.phone, SHOP_PHONE.slice(1));
    const shop = await stack.api.get(`/shops/${stack.shopId}`);
    assert.deepEqual(shop.data.channelStatus, { msgapp: 'connected' });
  });

  await context.test('a message is accepted, sent after composing, and read on the phone once', async () => {
    const body = {
      channel: 'msgapp',
      to: CUSTOMER,
      text: 'Your bread is ready',
      idempotencyKey: 'order-1',
    };
    const acceptedAnswer = await stack.api.post(`/shops/${stack.shopId}/messages`, body);
    assert.equal(acceptedAnswer.status, 202);
    assert.equal(acceptedAnswer.data.status, 'queued');
    assert.deepEqual((acceptedAnswer.data.policy as { recipientClass: string }).recipientClass, 'cold');
    const id = String(acceptedAnswer.data.id);
    const sent = await untilStatus(stack, id, 'sent');
    assert.equal(sent.via, 'shop');
    assert.ok(sent.sentAt);
    const inbox = await stack.network.inbox(CUSTOMER);
    assert.deepEqual(
      inbox.items.map(({ from, text, composingSeen }) => ({ from, text, composingSeen })),
      [{ from: SHOP_PHONE, text: 'Your bread is ready', composingSeen: true }],
    );
    const replay = await stack.api.post(`/shops/${stack.shopId}/messages`, body);
    assert.equal(replay.status, 200);
    assert.equal(replay.headers.get('x-idempotent-replay'), 'true');
    assert.equal(replay.data.id, id);
    assert.equal(replay.data.status, 'sent');
    assert.equal((await stack.network.inbox(CUSTOMER)).items.length, 1);
  });

  await context.test('STOP refuses the next send, and any other text lifts the refusal', async () => {
    await stack.network.write(CUSTOMER, { to: SHOP_PHONE, text: ' stop! ' });
    const refusedAnswer = await sendText(stack, stack.shopId, { to: CUSTOMER, text: 'Are you there?' });
    assert.deepEqual([refusedAnswer.status, refusedAnswer.error?.code], [422, 'RECIPIENT_OPTED_OUT']);
    await stack.network.write(CUSTOMER, { to: SHOP_PHONE, text: 'Sorry, go on' });
    const acceptedAnswer = await sendText(stack, stack.shopId, { to: CUSTOMER, text: 'Are you there?' });
    assert.equal(acceptedAnswer.status, 202);
    assert.equal((acceptedAnswer.data.policy as { recipientClass: string }).recipientClass, 'known');
    await untilStatus(stack, String(acceptedAnswer.data.id), 'sent');
  });

  await context.test('STOP in quotes, in bold or next to an emoji refuses the next send too', async () => {
    for (const text of ['"STOP"', '*STOP*', 'STOP 😀', '.STOP']) {
      await stack.network.write(CUSTOMER, { to: SHOP_PHONE, text });
      const refusedAnswer = await sendText(stack, stack.shopId, { to: CUSTOMER, text: 'Are you there?' });
      assert.deepEqual(
        [text, refusedAnswer.status, refusedAnswer.error?.code],
        [text, 422, 'RECIPIENT_OPTED_OUT'],
      );
      await stack.network.write(CUSTOMER, { to: SHOP_PHONE, text: 'Sorry, go on' });
    }
  });

  await context.test('a stop by SIGTERM exits 0, and the session comes back without a scan', async () => {
    assert.equal(await stack.end('SIGTERM'), 0);
    await stack.start();
    await untilConnected(stack, stack.shopId);
  });

  await context.test('the log contains no secret and no text', () => {
    const log = stack.serviceLog();
    for (const secret of [stack.apiKey, 'Your bread is ready', 'Are you there', 'go on'])
      assert.ok(!log.includes(secret), `the log holds ${secret.slice(0, 8)}…`);
  });
});
