/** A shop whose actor crashed too often, before both APIs: the real actors and Redis, the chat network in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardOf } from '../../../runtime/address.ts';
import { eventually } from '../../testbed/waiting.ts';
import { sharedRealService } from '../shared-service.ts';
import type { TestTenant } from '../target.ts';

const service = sharedRealService();

const get = async (tenant: TestTenant, path: string) =>
  (await service.api.call('GET', path, { key: tenant.key })).body.data;

async function send(tenant: TestTenant, shopId: string, to: string): Promise<string> {
  const json = { channel: 'msgapp', to, text: `Your bread is ready, ${to}` };
  const answer = await service.api.call('POST', `/shops/${shopId}/messages`, { key: tenant.key, json });
  assert.equal(answer.status, 202, answer.text);
  return answer.body.data.id;
}

/** A connected shop with one message that was sent and one that waits, since operators hold the queue. */
async function shopWithMessages() {
  const tenant = await service.tenant();
  const shopId = await service.shop(tenant);
  const channel = `/shops/${shopId}/channels/msgapp/connect`;
  await service.api.call('POST', channel, { key: tenant.key, json: {} });
  await eventually(async () => (await get(tenant, channel)).status === 'connected');
  const sent = await send(tenant, shopId, '+33611110001');
  await eventually(async () => (await get(tenant, `/messages/${sent}`)).status === 'sent');
  assert.equal((await service.operator('POST', `/actors/${tenant.id}/${shopId}/pause`, {})).status, 200);
  const waiting = await send(tenant, shopId, '+33611110002');
  return { tenant, shop: { tenantId: tenant.id, shopId }, sent, waiting };
}

test('the stored data of a suspended shop is readable, and calls for its actor are refused', async () => {
  const { tenant, shop, sent, waiting } = await shopWithMessages();
  const messages = `/shops/${shop.shopId}/messages`;
  const { items } = await get(tenant, messages);
  const mend = await service.breakShop(shop);

  // A queue without its actor has no places.
  const stored = items.map(
    ({ position: _, estimatedSendAt: __, ...record }: Record<string, unknown>) => record,
  );
  assert.deepEqual((await get(tenant, messages)).items, stored);
  const idsOf = async (query: string) =>
    (await get(tenant, `${messages}?${query}`)).items.map(({ id }: { id: string }) => id);
  assert.deepEqual(await idsOf('status=queued'), [waiting]);
  assert.deepEqual(await idsOf('status=sent'), [sent]);
  const { nextCursor } = await get(tenant, `${messages}?limit=1`);
  assert.deepEqual(await idsOf(`limit=1&cursor=${nextCursor}`), [sent]);
  assert.equal((await get(tenant, `/messages/${waiting}`)).status, 'queued');
  const [listed] = (await get(tenant, '/shops')).items;
  assert.deepEqual([listed.id, listed.channelStatus.msgapp], [shop.shopId, 'connected']);
  const seenReply = await service.operator('GET', `/actors/${tenant.id}/${shop.shopId}/messages`);
  assert.equal(seenReply.body.data.items.length, 2, 'operators see them as well');

  const json = { channel: 'msgapp', to: '+33611110003', text: 'Hello' };
  const refusedReply = await service.api.call('POST', messages, { key: tenant.key, json });
  assert.deepEqual([refusedReply.status, refusedReply.body.error.code], [503, 'BOT_SERVICE_UNREACHABLE']);
  await mend();
  const resumedReply = await service.operator('POST', `/actors/${tenant.id}/${shop.shopId}/resume`, {});
  assert.equal(resumedReply.status, 200);
  await eventually(async () => (await get(tenant, `/messages/${waiting}`)).status === 'sent');
});

test('a message that is being sent when its shop is suspended ends BOT_RESTARTED', async () => {
  const { tenant, shop, waiting } = await shopWithMessages();
  const address = { shard: shardOf(tenant.id), ...shop };
  service.network.behave({ outcome: () => 'silent' });
  const actor = `/actors/${tenant.id}/${shop.shopId}`;
  assert.equal((await service.operator('POST', `${actor}/resume`, {})).status, 200);
  await eventually(async () => (await get(tenant, `/messages/${waiting}`)).status === 'sending');
  await eventually(() => service.network.sent(address).length === 2);
  const mend = await service.breakShop(shop);
  await eventually(async () => (await get(tenant, `/messages/${waiting}`)).status === 'failed');
  const ended = await get(tenant, `/messages/${waiting}`);
  assert.equal(ended.reason, 'BOT_RESTARTED');
  service.network.behave({ outcome: () => ({ kind: 'acknowledged' }) });
  await mend();
  assert.equal((await service.operator('POST', `${actor}/resume`, {})).status, 200);
  const next = await send(tenant, shop.shopId, '+33611110004');
  await eventually(async () => (await get(tenant, `/messages/${next}`)).status === 'sent');
  assert.deepEqual(await get(tenant, `/messages/${waiting}`), ended);
  assert.equal(service.network.sent(address).filter(({ messageId }) => messageId === waiting).length, 1);
});

test('resume-all starts what matches its filter by tenant and cause, and leaves the rest', async () => {
  const [one, other] = [await shopWithMessages(), await shopWithMessages()];
  const mends = [await service.breakShop(one.shop), await service.breakShop(other.shop)];
  const statusOf = async ({ tenantId, shopId }: { tenantId: string; shopId: string }) =>
    (await service.operator('GET', `/actors/${tenantId}/${shopId}`)).body.data.status;
  const resumeAll = async (filter: object) => {
    const answer = await service.operator('POST', '/resume-all', filter);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data;
  };
  assert.deepEqual(await resumeAll({ cause: 'no such cause' }), { resumed: 0, left: 0, silentNodes: [] });
  for (const mend of mends) await mend();
  const bad = await service.operator('POST', '/resume-all', { tenant: 'nonsense' });
  assert.equal(bad.body.error.fields[0].field, 'tenant');
  assert.equal((await resumeAll({ tenant: one.tenant.id.toUpperCase(), cause: 'syntaxerror' })).resumed, 1);
  await eventually(async () => (await statusOf(one.shop)) === 'active');
  assert.equal(await statusOf(other.shop), 'suspended');
  assert.equal((await resumeAll({})).resumed, 1);
  await eventually(async () => (await statusOf(other.shop)) === 'active');
  const { items } = (await service.operator('GET', `/audit?route=${encodeURIComponent('/resume-all')}`)).body
    .data;
  assert.deepEqual(
    items.map(({ status }: { status: number }) => status),
    [200, 200, 422, 200],
  );
});
