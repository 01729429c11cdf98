/** A declaration that is revoked, or runs out, while its message waits: it counts until the message is `sending`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShopCommand } from '../../../../actors/shops/protocol/shop-commands.ts';
import { carriedWrites } from '../../../../actors/shops/records/carried-message.ts';
import type { AcceptedReply } from '../../../../actors/shops/shop-operations.ts';
import { tenantKeys } from '../../../../actors/tenants/tenant-keys.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import type { MemoryRedis } from '../../../runtime/memory-redis.ts';
import { poolShop } from '../pool/pool-exchange.ts';
import { ShopHarness, textDraft } from '../shop-harness.ts';

const RECIPIENT = '+33612345678';

interface Declared {
  readonly expiresAtMs?: number;
  readonly revokedAtMs?: number;
}

/** Stores the tenant's declaration of the recipient, as its actor does. */
function declare(redis: MemoryRedis, tenantId: string, { expiresAtMs, revokedAtMs }: Declared): void {
  const times = { expiresAtMs: expiresAtMs ?? null, createdAtMs: 0, revokedAtMs: revokedAtMs ?? null };
  const record = { id: '65f0000000000000000000cc', phone: RECIPIENT, note: null, ...times };
  redis.run(['HSET', tenantKeys(tenantId).contacts, RECIPIENT, JSON.stringify(record)]);
}

/** Sends to the recipient, who is declared and nothing else; the message's id. */
function sendDeclared(shop: ShopHarness): string {
  declare(shop.redis, shop.state.shop.tenantId, {});
  const declaration = { expiresAtMs: null, isRevoked: false };
  const reply = shop.command(
    {
      type: 'send',
      draft: textDraft(RECIPIENT, 'hello'),
      settings: resolveSettings({}),
      pool: undefined,
    },
    { send: { original: undefined, isCustomer: false, writer: undefined, declaration } },
  ) as { value: { accepted: AcceptedReply } };
  return reply.value.accepted.id;
}

/** One of the looks before the wire, whose facts are read from what is stored. */
async function look(shop: ShopHarness, look: 'first' | 'last', messageId: string): Promise<void> {
  const { generation } = shop.state.channel.context;
  const command: ShopCommand =
    look === 'first'
      ? { type: 'first_look', messageId }
      : { type: 'session.prepared', messageId, generation, writes: [] };
  await shop.ask(command);
}

const REFUSED = 'rejected COLD_RECIPIENT_CAP_REACHED';

test('a valid declaration lets its message leave', async () => {
  const shop = await ShopHarness.connected();
  const id = sendDeclared(shop);
  await look(shop, 'first', id);
  await look(shop, 'last', id);
  assert.equal(shop.statusOf(id), 'sending');
});

test('a declaration that is revoked while its message waits stops the message before it is prepared', async () => {
  const shop = await ShopHarness.connected();
  const id = sendDeclared(shop);
  declare(shop.redis, shop.state.shop.tenantId, { revokedAtMs: shop.nowMs });
  await look(shop, 'first', id);
  assert.deepEqual([shop.statusOf(id), shop.effectsOf('prepare')], [REFUSED, []]);
});

test('a declaration that expires while its message is prepared stops it, and the session is notified', async () => {
  const shop = await ShopHarness.connected();
  const id = sendDeclared(shop);
  declare(shop.redis, shop.state.shop.tenantId, { expiresAtMs: shop.nowMs + HOUR_MS });
  await look(shop, 'first', id);
  assert.equal(shop.effectsOf('prepare').length, 1);
  shop.nowMs += HOUR_MS;
  await look(shop, 'last', id);
  assert.deepEqual([shop.statusOf(id), shop.effectsOf('transmit')], [REFUSED, []]);
  assert.deepEqual(shop.idsOf('recall'), [id]);
});

test('a recipient who became a customer or wrote meanwhile still gets the message', async () => {
  for (const became of ['customer', 'writer'] as const) {
    const shop = await ShopHarness.connected();
    const { keys, shop: ownShop } = shop.state;
    const id = sendDeclared(shop);
    declare(shop.redis, ownShop.tenantId, { revokedAtMs: shop.nowMs });
    const writer = { lastInboundAtMs: shop.nowMs, stampMs: shop.nowMs, optedOut: false, wireIds: [] };
    if (became === 'customer') shop.redis.run(['SADD', tenantKeys(ownShop.tenantId).customers, RECIPIENT]);
    else shop.redis.run(['HSET', keys.writers, RECIPIENT, JSON.stringify(writer)]);
    await look(shop, 'first', id);
    await look(shop, 'last', id);
    assert.equal(shop.statusOf(id), 'sending', became);
  }
});

test('a pool shop asks for the declaration of the tenant it writes for', async () => {
  const sample = await ShopHarness.connected();
  const origin = sample.bodies.get(sendDeclared(sample));
  assert.ok(origin);
  for (const revoked of [false, true]) {
    const pool = await ShopHarness.connected(1, poolShop(0));
    const take = { type: 'pool.take', body: origin, isTaken: false, isPoolOpen: true } as const;
    const facts = { record: undefined, writer: undefined };
    pool.command({ ...take, settings: resolveSettings({}) }, facts);
    for (const write of carriedWrites(pool.state.shard, origin, 'body', JSON.stringify(origin)))
      pool.redis.run(write);
    declare(pool.redis, origin.tenantId, revoked ? { revokedAtMs: pool.nowMs } : {});
    await look(pool, 'first', origin.id);
    assert.equal(pool.effectsOf('prepare').length, revoked ? 0 : 1);
    assert.equal(pool.statusOf(origin.id), revoked ? REFUSED : 'queued');
  }
});
