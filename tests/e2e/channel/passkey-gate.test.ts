/** An account that links devices only with a passkey: the owner's messages, by a QR code and by a code to type. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';

const PHONE = '+33611110071';

const stack = sharedStack({}, async () => {
  await stack.network.requirePasskey(PHONE, true);
});

for (const method of ['qr', 'code'] as const) {
  test(`by ${method}: the owner sees that the account asks for a passkey, and may link another way later`, async () => {
    const path = `/shops/${stack.shopId}/channels/msgapp`;
    const cursor = String((await stack.api.get('/events')).data.nextCursor);
    const link = async (): Promise<unknown> => {
      if (method === 'qr') await stack.api.post(`${path}/connect`);
      else await stack.api.post(`${path}/pairing-code`, { phone: PHONE });
      const shown = await until('a code is shown', async () => {
        const { data } = await stack.api.get(`${path}/connect`);
        return (data[method] as string | undefined) ?? false;
      });
      return method === 'qr' ? stack.network.scan(shown, PHONE) : stack.network.typeCode(shown, PHONE);
    };
    await assert.rejects(link(), { code: 'PASSKEY_REQUIRED' });
    const told = await until('it is told', async () => {
      const { data } = await stack.api.get(`${path}/connect`);
      return data.status === 'disconnected' && data;
    });
    assert.equal(told.reason, 'PASSKEY_REQUIRED');
    const { data } = await stack.api.get(`/events?types=channel.disconnected&cursor=${cursor}`);
    const events = (data.items as { data: unknown }[]).map((event) => event.data);
    assert.deepEqual(events, [{ shopId: stack.shopId, reason: 'PASSKEY_REQUIRED' }]);
  });
}

test('once the account asks for none, the shop is linked, and the reason is gone', async () => {
  await stack.network.requirePasskey(PHONE, false);
  const path = `/shops/${stack.shopId}/channels/msgapp`;
  const { data } = await stack.api.post(`${path}/connect`);
  assert.equal(data.reason, undefined);
  const shown = async () => (await stack.api.get(`${path}/connect`)).data.qr as string | undefined;
  await stack.network.scan(await until('a QR code is shown', shown), PHONE);
  await until('it is connected', async () => (await stack.api.get(path)).data.status === 'connected');
  const endedAnswer = await stack.api.post(`${path}/disconnect`);
  assert.deepEqual([endedAnswer.data.status, endedAnswer.data.reason], ['disconnected', undefined]);
});
