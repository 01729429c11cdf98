/** Webhooks before the tenants' API: real actors and Redis, a real server that takes events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { sharedRealService } from '../../http/shared-service.ts';
import type { TestTenant } from '../../http/target.ts';
import { eventually } from '../../testbed/waiting.ts';
import type { Delivery } from '../../testbed/webhook-server.ts';
import { sharedEndpoint } from './shared-endpoint.ts';
import { webhookAccounts } from './webhook-accounts.ts';

const receivedDeliveries: Delivery[] = [];
const endpoint = sharedEndpoint((delivery, response) => {
  receivedDeliveries.push(delivery);
  response.writeHead(204).end();
});
const service = sharedRealService();

const { account } = webhookAccounts(() => service);
const deliveriesAt = (path: string) => receivedDeliveries.filter((delivery) => delivery.path === path);
const caller =
  ({ key }: Pick<TestTenant, 'key'>) =>
  (method: string, path: string, json?: unknown) =>
    service.api.call(method, `/webhooks${path}`, { key, json });

test('a webhook that a key makes is sent events, tested, replayed, moved to a new secret and erased', async () => {
  const { tenant, shopId, steer } = await account();
  const call = caller(tenant);
  const createdReply = await call('POST', '', {
    url: `${endpoint.url}/own`,
    types: ['queue.paused'],
    shops: [shopId],
  });
  assert.equal(createdReply.status, 201, createdReply.text);
  const { id, secret } = createdReply.body.data;
  assert.equal(createdReply.headers.location, `/api/v1/webhooks/${id}`);
  await steer('pause');
  await eventually(async () => deliveriesAt('/own').length === 1);
  const [event] = deliveriesAt('/own');
  assert.ok(event);
  const { id: eventId } = new Webhook(secret).verify(event.body, event.headers) as { id: string };
  await eventually(async () => (await call('GET', `/${id}/attempts`)).body.data.items.length === 1);
  const replayedReply = await call('POST', `/${id}/replay`, { eventIds: [eventId.toUpperCase()] });
  assert.deepEqual([replayedReply.status, replayedReply.body.data], [200, { replayed: 1 }]);
  await eventually(async () => deliveriesAt('/own').length === 2);
  assert.deepEqual((await call('POST', `/${id}/test`, {})).body.data, { status: 204, error: null });
  const fresh = (await call('POST', `/${id}/rotate-secret`, {})).body.data.secret;
  assert.notEqual(fresh, secret);
  const shownReply = await call('GET', `/${id.toUpperCase()}`);
  assert.equal(shownReply.body.data.url, `${endpoint.url}/own`);
  for (const reply of [shownReply, await call('GET', '')])
    assert.ok(!reply.text.includes('whsec_'), reply.text);
  assert.equal((await call('DELETE', `/${id}`)).body.data.deleted, true);
  const codes = [
    await call('GET', `/${id}`),
    await call('DELETE', `/${id}`),
    await call('POST', `/${id}/test`, {}),
  ].map(({ status, body }) => [status, body.error.code]);
  assert.deepEqual(codes, Array(3).fill([404, 'WEBHOOK_NOT_FOUND']));
});

test('operators see who disabled a webhook, and a disabled one is not replayed to', async () => {
  const { tenant } = await account();
  const call = caller(tenant);
  const { id } = (await call('POST', '', { url: `${endpoint.url}/disabled` })).body.data;
  const disabledReply = await call('PATCH', `/${id}`, { disabled: true });
  assert.equal(disabledReply.body.data.disabledBy, 'tenant');
  const refusedReply = await call('POST', `/${id}/replay`, { since: '2026-01-01T00:00:00Z' });
  assert.deepEqual([refusedReply.status, refusedReply.body.error.code], [409, 'CONFLICT']);
  const { body } = await service.operator('GET', `/tenants/${tenant.id}/webhooks`);
  assert.deepEqual(
    body.data.items.map(({ disabledBy }: { disabledBy: string }) => disabledBy),
    ['tenant'],
  );
  assert.equal((await call('PATCH', `/${id}`, { disabled: false })).body.data.disabledBy, null);
});

test('addresses keep to the rules of the operators, and shops are those of the tenant', async () => {
  const [{ tenant, shopId }, { shopId: foreign }] = [await account(), await account()];
  const call = caller(tenant);
  const createdReply = await call('POST', '', { url: endpoint.url, shops: [shopId.toUpperCase()] });
  assert.deepEqual([createdReply.status, createdReply.body.data?.shops], [201, [shopId]], createdReply.text);
  for (const address of ['http://example.com/', 'https://10.0.0.1/', 'https://example.com:8443/']) {
    const refusedReply = await call('POST', '', { url: address });
    assert.deepEqual([refusedReply.status, refusedReply.body.error.fields[0].field], [422, 'url'], address);
  }
  const refusedReply = await call('POST', '', { url: endpoint.url, shops: [foreign] });
  assert.deepEqual([refusedReply.status, refusedReply.body.error.fields[0].field], [422, 'shops.0']);
});

test('an account makes 20 webhooks, those of the operators among them, and operators may make more', async () => {
  const { tenant } = await account();
  const call = caller(tenant);
  const path = `/tenants/${tenant.id}/webhooks`;
  const first = await service.operator('POST', path, { url: endpoint.url });
  assert.equal(first.status, 201, first.text);
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => call('POST', '', { url: endpoint.url })),
  );
  assert.deepEqual(replies.map(({ status }) => status).sort(), [...Array(19).fill(201), 409]);
  const refusedReply = replies.find(({ status }) => status === 409);
  assert.equal(refusedReply?.body.error.code, 'WEBHOOK_LIMIT_REACHED');
  assert.match(refusedReply?.body.error.message, /has 20 webhooks/);
  assert.equal((await service.operator('POST', path, { url: endpoint.url })).status, 201);
  assert.equal((await call('DELETE', `/${first.body.data.id}`)).status, 200);
  assert.equal((await call('POST', '', { url: endpoint.url })).status, 409, 'there are 20 still');
});

test('a webhook of another tenant is answered as missing on every call, and stays as it is', async () => {
  const [{ tenant }, { tenant: stranger }] = [await account(), await account()];
  const { id } = (await caller(tenant)('POST', '', { url: `${endpoint.url}/kept` })).body.data;
  const call = caller(stranger);
  const replies = [
    await call('GET', `/${id}`),
    await call('PATCH', `/${id}`, { url: `${endpoint.url}/taken` }),
    await call('POST', `/${id}/rotate-secret`, {}),
    await call('POST', `/${id}/test`, {}),
    await call('GET', `/${id}/attempts`),
    await call('POST', `/${id}/replay`, { eventIds: [] }),
    await call('DELETE', `/${id}`),
  ];
  assert.deepEqual(
    replies.map(({ status, body }) => [status, body.error?.code]),
    replies.map(() => [404, 'WEBHOOK_NOT_FOUND']),
  );
  assert.equal((await caller(tenant)('GET', `/${id}`)).body.data.url, `${endpoint.url}/kept`);
});

test('a key without inbound.read cannot have inbound messages sent anywhere', async () => {
  const { tenant } = await account();
  const lacking = await service.key(tenant.id, { permissions: ['webhooks.read', 'webhooks.write'] });
  const [call, full] = [caller(lacking), caller(tenant)];
  const createdReply = await call('POST', '', { url: endpoint.url });
  assert.equal(createdReply.status, 201, createdReply.text);
  assert.ok(
    createdReply.body.data.types.includes('message.sent') &&
      !createdReply.body.data.types.includes('message.received'),
  );
  const { id } = (await full('POST', '', { url: `${endpoint.url}/all` })).body.data;
  const refusedReplies = [
    await call('POST', '', { url: endpoint.url, types: ['message.received'] }),
    await call('PATCH', `/${createdReply.body.data.id}`, { types: ['message.received'] }),
    await call('PATCH', `/${id}`, { url: `${endpoint.url}/taken` }),
  ];
  assert.deepEqual(
    refusedReplies.map(({ status, body }) => [status, body.error?.code]),
    refusedReplies.map(() => [403, 'FORBIDDEN_PERMISSION']),
  );
  assert.ok(!(await call('PATCH', `/${id}`, { types: null })).body.data.types.includes('message.received'));
  assert.equal(
    (await call('PATCH', `/${id}`, { url: `${endpoint.url}/moved` })).status,
    200,
    'it tells none of it now',
  );
});
