/** A tenant's customer records before the operators' API: the real actors and Redis, the chat network in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listCustomers } from '../../../actors/tenants/customer-list.ts';
import { readsBy } from '../../testbed/reads-by.ts';
import { eventually } from '../../testbed/waiting.ts';
import { sharedRealService } from '../shared-service.ts';
import type { TestTenant } from '../target.ts';

const service = sharedRealService();

const customersOf = (tenant: TestTenant) => `/tenants/${tenant.id}/customers`;
const phones = Array.from({ length: 205 }, (_, index) => `+336${String(index * 7919).padStart(8, '0')}`);

test('customers are listed page by page in the order of their numbers, and found by a part of one', async () => {
  const tenant = await service.tenant();
  await service.operator('POST', customersOf(tenant), { phones: phones.toReversed() });
  const listed: string[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null && pages < 4; pages += 1) {
    const place: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await service.operator('GET', `${customersOf(tenant)}?limit=100${place}`);
    listed.push(...body.data.items.map(({ phone }: { phone: string }) => phone));
    cursor = body.data.nextCursor;
  }
  assert.deepEqual(listed, phones.toSorted());
  const part = String(phones[17]).slice(4);
  const { body } = await service.operator('GET', `${customersOf(tenant)}?q=${part}`);
  assert.deepEqual(body.data, { items: [{ phone: phones[17] }], nextCursor: null });
});

test('removed customers are strangers from the next send on, and each is counted once', async () => {
  const tenant = await service.tenant();
  const shopId = await service.shop(tenant);
  const channel = `/shops/${shopId}/channels/msgapp/connect`;
  const call = (method: string, path: string, json?: unknown) =>
    service.api.call(method, path, { key: tenant.key, json });
  await call('POST', channel, {});
  await eventually(async () => (await call('GET', channel)).body.data.status === 'connected');
  const classOf = async (to: string, text: string): Promise<string> => {
    const json = { channel: 'msgapp', to, text };
    const { body } = await call('POST', `/shops/${shopId}/messages`, json);
    return body.data.policy.recipientClass;
  };
  const [one = '', other = ''] = phones;
  await service.operator('POST', customersOf(tenant), { phones: [one, other] });
  const asked = { phones: [one, one, '+33700000000'] };
  const removedReply = await service.operator('DELETE', customersOf(tenant), asked);
  assert.deepEqual([removedReply.status, removedReply.body.data], [200, { removed: 1 }]);
  assert.deepEqual((await service.operator('DELETE', customersOf(tenant), asked)).body.data, { removed: 0 });
  assert.equal(await classOf(one, 'first'), 'cold');
  assert.equal(await classOf(other, 'second'), 'known');
});

test('the change is in the audit log without the numbers', async () => {
  const { body } = await service.operator('GET', '/audit?limit=20');
  const change = body.data.items.find(({ method }: { method: string }) => method === 'DELETE');
  assert.deepEqual([change.route, change.status], ['/tenants/{tenantId}/customers', 200]);
  assert.ok(!JSON.stringify(change).includes(String(phones[0])));
});

test('a missing tenant is NOT_FOUND, and an invalid number is refused by its field', async () => {
  const missing = `/tenants/${'b'.repeat(24)}/customers`;
  for (const [method, json] of [
    ['GET', undefined],
    ['DELETE', { phones: ['+33600000001'] }],
  ] as const)
    assert.equal((await service.operator(method, missing, json)).body.error.code, 'NOT_FOUND');
  const tenant = await service.tenant();
  for (const [method, path, json, field] of [
    ['GET', `${customersOf(tenant)}?cursor=nobody`, undefined, 'cursor'],
    ['DELETE', customersOf(tenant), { phones: ['0611'] }, 'phones.0'],
    ['DELETE', customersOf(tenant), { phones: [] }, 'phones'],
  ] as const) {
    const { status, body } = await service.operator(method, path, json);
    assert.deepEqual([status, body.error.fields?.[0]?.field], [422, field]);
  }
});

test('a number that Redis gives twice while it grows its set is listed once', async () => {
  const answers = [
    ['7', ['+3', '+1']],
    ['0', ['+2', '+1', '+3']],
  ];
  const asked: unknown[] = [];
  const read = readsBy((command) => {
    asked.push(command);
    return answers.shift();
  });
  const page = await listCustomers(
    { store: { read }, key: 'set' },
    { limit: 2, cursor: undefined, q: undefined },
  );
  assert.deepEqual(page, { items: [{ phone: '+1' }, { phone: '+2' }], nextCursor: '+2' });
  assert.deepEqual(asked, [
    ['SSCAN', 'set', '0', 'COUNT', 5_000],
    ['SSCAN', 'set', '7', 'COUNT', 5_000],
  ]);
});
