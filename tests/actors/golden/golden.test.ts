/**
 * This program reads the data that a node left in Redis, with one sent and two waiting messages. A tenant is read from
 * `golden/version-1.json`. A shop is read from `golden/version-2.json`, since its form changed before the first
 * release. Data of a newer program is refused, so that reading loses nothing. A change of the stored form adds a file,
 * and the old ones stay.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeMachines } from '../../../actors/shops/machines/shop-machines.ts';
import { listMessages } from '../../../actors/shops/operations/message-list.ts';
import { readMessages } from '../../../actors/shops/records/message-days.ts';
import { shopAddress, shopKeys } from '../../../actors/shops/records/shop-keys.ts';
import { loadShop } from '../../../actors/shops/state/load-shop.ts';
import { channelState, pacingState } from '../../../actors/shops/state/shop-state.ts';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import { shardKey } from '../../../runtime/address.ts';
import { testEgressVault } from '../shops/shop-harness.ts';
import { type Golden, goldenHash, goldenStore, goldenTenant, readGolden } from './golden-store.ts';

const shopOf = (golden: Golden, store = goldenStore(golden)) =>
  loadShop(shopAddress(golden), store, Number.POSITIVE_INFINITY, testEgressVault);

test('a tenant is read with its keys, shops, quota and declared contacts', async () => {
  const golden = readGolden(1);
  const tenant = await goldenTenant(golden);
  const { name, plan, owner, active } = tenant.record;
  assert.deepEqual([name, plan, owner?.name, active], ['Bakeries', 'scale', 'Ana', true]);
  assert.equal(tenant.ownerNumber, '+33650000001');
  assert.deepEqual([...tenant.shops.keys()], [golden.shopId]);
  const keys = [...tenant.apiKeys.values()].map(({ record, permissions, mayCallFrom }) => ({
    name: record.name,
    isRevoked: record.revokedAtMs !== null,
    permissions: permissions.size,
    allows: mayCallFrom?.('10.1.2.3'),
  }));
  assert.deepEqual(
    keys.sort((left, right) => left.permissions - right.permissions),
    [
      { name: 'revoked', isRevoked: true, permissions: 1, allows: true },
      { name: 'tests', isRevoked: false, permissions: 10, allows: undefined },
    ],
  );
});

test('a shop is read with both machines, its queue and its ledger', async () => {
  const golden = readGolden(2);
  const shop = await shopOf(golden);
  assert.ok(shop);
  assert.deepEqual([shop.name, channelState(shop)], ['Corner bakery', 'connected']);
  assert.equal(shop.channel.context.phone, '33650000001');
  assert.deepEqual(
    shop.queue.map(({ messageId }) => messageId),
    golden.messages.slice(1),
  );
  const stored = goldenHash(golden, shop.keys.shop);
  assert.deepEqual(
    JSON.parse(encodeMachines(shop, (shop.pacing.context.untilMs ?? 0) - 1)),
    JSON.parse(stored.actor ?? ''),
    'it is written as it was read',
  );
  assert.equal(pacingState(shop), 'idle');
  assert.equal(shop.ledger.size, 3);
});

test('messages are read, before their shop is loaded and after', async () => {
  const golden = readGolden(2);
  const { shard } = tenantAddress(golden.tenantId);
  const store = goldenStore(golden);
  const read = async () =>
    (await readMessages(shard, golden.messages, store)).map((message) => [
      message?.body.id,
      message?.body.text,
      message?.body.policy?.recipientClass,
      message?.state.status,
    ]);
  const [first, second, third] = golden.messages;
  const expected = [
    [first, 'hello', 'known', 'sent'],
    [second, 'and hello', 'known', 'queued'],
    [third, 'declared', 'declared', 'queued'],
  ];
  const list = async (status?: 'queued' | 'sent') => {
    const shop = { shard, keys: shopKeys(shard, golden.shopId) };
    const { items } = await listMessages(shop, store, { status, limit: 10, cursor: undefined });
    return items.map(({ id }) => id);
  };
  for (const isLoaded of [false, true]) {
    assert.equal((await shopOf(golden, isLoaded ? store : goldenStore(golden)))?.queue.length, 2);
    assert.deepEqual(await read(), expected);
    assert.deepEqual(await list(), [third, second, first]);
    assert.deepEqual(await list('queued'), [third, second]);
    assert.deepEqual(await list('sent'), [first]);
  }
});

test('a stored tenant or shop of a newer version is refused with a clear error', async () => {
  const golden = readGolden(1);
  const { shard, id } = tenantAddress(golden.tenantId);
  const record = golden.keys[shardKey(shard, 'tenant', id)];
  assert.ok(record);
  record.value = String(record.value).replace('"version":1', '"version":2');
  await assert.rejects(goldenTenant(golden), /stored in version 2, newer than this program's 1/);
  const withShop = readGolden(2);
  const shop = goldenHash(withShop, shopKeys(tenantAddress(withShop.tenantId).shard, withShop.shopId).shop);
  shop.actor = String(shop.actor).replace('"version":2', '"version":4');
  await assert.rejects(shopOf(withShop), /stored in version 4, newer than this program's 3/);
});
