/** The viewers of a status: people who opted out are left out, under whichever address they wrote. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DispatchFacts } from '../../../../actors/shops/turns/dispatch/dispatch-facts.ts';
import { tenantKeys } from '../../../../actors/tenants/tenant-keys.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import { ShopHarness } from '../shop-harness.ts';

const [ANNA, BRUNO, CARLA] = ['+33622220001', '+33622220002', '+33622220003'];
const [LID, STRANGE_LID] = ['281474976710001@lid', '281474976710002@lid'];

/** The audience that the look before the wire finds for a status of this shop. */
async function audienceOf(shop: ShopHarness): Promise<readonly string[]> {
  return [...((await dispatchOf(shop))?.audience ?? [])].sort();
}

/** The facts that the look before the wire finds for a status of this shop. */
async function dispatchOf(shop: ShopHarness): Promise<DispatchFacts | undefined> {
  const draft = {
    caption: 'Bread',
    mediaUrl: 'https://example.com/a.jpg',
    mediaType: 'image' as const,
    idempotencyKey: undefined,
    requestId: 'r',
  };
  shop.command({ type: 'post_status', draft, settings: resolveSettings({}) });
  const messageId = shop.state.currentMessage?.messageId;
  assert.ok(messageId);
  return (await shop.facts({ type: 'first_look', messageId })).dispatch;
}

async function shopWithCustomers(): Promise<{
  readonly shop: ShopHarness;
  readonly wrote: (address: string, optedOut: boolean, atMs: number) => void;
  readonly knownAs: (address: string, number: string) => void;
}> {
  const shop = await ShopHarness.connected();
  const { keys } = shop.state;
  shop.redis.run(['SADD', tenantKeys(shop.state.shop.tenantId).customers, ANNA, BRUNO, CARLA]);
  return {
    shop,
    wrote(address, optedOut, atMs) {
      const writer = { lastInboundAtMs: atMs, stampMs: atMs, optedOut, wireIds: [] };
      shop.redis.run(['HSET', keys.writers, address, JSON.stringify(writer)]);
    },
    knownAs: (address, number) => shop.redis.run(['HSET', keys.aliases, address, number]),
  };
}

test('a person who opted out under the network’s own id is left out once their number is known', async () => {
  const { shop, wrote, knownAs } = await shopWithCustomers();
  wrote(LID, true, 1_000);
  knownAs(LID, BRUNO);
  wrote(CARLA, true, 1_000);
  assert.deepEqual(await audienceOf(shop), [ANNA]);
});

test('the later message of a person under both addresses counts', async () => {
  const { shop, wrote, knownAs } = await shopWithCustomers();
  knownAs(LID, BRUNO);
  wrote(LID, true, 1_000);
  wrote(BRUNO, false, 2_000);
  assert.deepEqual(await audienceOf(shop), [ANNA, BRUNO, CARLA]);
  const other = await shopWithCustomers();
  other.knownAs(LID, BRUNO);
  other.wrote(BRUNO, false, 1_000);
  other.wrote(LID, true, 2_000);
  assert.deepEqual(await audienceOf(other.shop), [ANNA, CARLA]);
});

test('a writer without a number sees no status, and the facts name the id of one who opted out', async () => {
  const { shop, wrote } = await shopWithCustomers();
  wrote(STRANGE_LID, true, 1_000);
  wrote(LID, false, 1_000);
  const dispatch = await dispatchOf(shop);
  assert.deepEqual([dispatch?.audience, dispatch?.optedOutIds], [[ANNA, BRUNO, CARLA], [STRANGE_LID]]);
});

test('a person who was declared by one form of a number, and then revoked by the other, sees no status', async () => {
  for (const [revokedAtMs, shown] of [
    [999, 4],
    [1_000, 3],
  ] as const) {
    const { shop } = await shopWithCustomers();
    const { contacts } = tenantKeys(shop.state.shop.tenantId);
    const stored = (phone: string, times: object): unknown => {
      const record = { id: phone, phone, note: null, expiresAtMs: null, revokedAtMs: null, ...times };
      return shop.redis.run(['HSET', contacts, phone, JSON.stringify(record)]);
    };
    stored('+5215512345678', { createdAtMs: 0, revokedAtMs });
    stored('+525512345678', { createdAtMs: 1_000 });
    assert.equal((await audienceOf(shop)).length, shown, `revoked at ${revokedAtMs}`);
  }
});
