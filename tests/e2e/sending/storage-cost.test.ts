/**
 * The cost of an accepted message in Redis, counted by Redis. A command's cost is the keys it touches. So these counts
 * bound the price of a send, and a time would depend on the machine.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { NO_DRAFT } from '../../../actors/shops/message-content.ts';
import type { ShopReference } from '../../../actors/shops/shop-operations.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { makeAccount } from '../stack/account.ts';
import { type MemoryStack, startMemoryStack } from '../stack/memory-stack.ts';

const SHOPS = 48;
/** Callers who wait for their answers at a time: what one batch then carries. */
const CALLERS = 32;
const WARM = 2;
const MESSAGES_PER_SHOP = 20;
/** The number of a node's own questions each second that are counted, to know the cost of one. */
const LOOKS = 2;

for (const { tenants, commands } of [
  { tenants: 6, commands: 2 },
  { tenants: SHOPS, commands: 2.5 },
]) {
  test(`${SHOPS} shops of ${tenants} tenants: at most ${commands} commands and a key per message`, async (context) => {
    // The first message of each shop stays on the wire, so that what is counted is acceptance alone.
    const stack = await startMemoryStack({
      paired: true,
      pairedAgoMs: 20 * DAY_MS,
      outcome: () => 'silent',
    });
    const redis = new Redis(stack.redis.url);
    context.after(async () => {
      redis.disconnect();
      await stack.stop();
    });
    const shops = await connectedShops(stack, tenants);
    await sendToAll(stack, shops, { from: 0, to: WARM });
    await until('each has one on the wire', async () => (await onTheWire(stack, shops)) === SHOPS);
    const before = await figures(redis);
    await sendToAll(stack, shops, { from: WARM, to: WARM + MESSAGES_PER_SHOP });
    const after = await figures(redis);
    const idle = await until('the node looked at its shards again', async () => {
      const later = await figures(redis);
      return later.looks >= after.looks + LOOKS && later;
    });
    const aLook = (idle.commands - after.commands) / (idle.looks - after.looks);
    const messages = SHOPS * MESSAGES_PER_SHOP;
    const each = {
      commands: (after.commands - before.commands - aLook * (after.looks - before.looks)) / messages,
      keys: (after.keys - before.keys) / messages,
      bytes: (after.bytes - before.bytes) / messages,
    };
    context.diagnostic(JSON.stringify(each));
    assert.ok(each.commands <= commands, `${each.commands} commands a message`);
    assert.ok(each.keys <= 1, `${each.keys} keys a message`);
  });
}

/** Returns shops that accept messages, spread over this number of tenants. */
async function connectedShops(stack: MemoryStack, tenants: number): Promise<ShopReference[]> {
  const shops: ShopReference[] = [];
  for (let index = 0; index < tenants; index += 1) {
    const { tenantId, shopId } = await makeAccount(stack.admin, `Tenant ${index}`);
    const phones = Array.from({ length: WARM + MESSAGES_PER_SHOP }, (_, turn) => recipient(turn));
    await stack.admin.post(`/tenants/${tenantId}/customers`, { phones });
    shops.push({ tenantId, shopId });
    for (let more = 1; more < SHOPS / tenants; more += 1) {
      const createdAnswer = await stack.admin.post(`/tenants/${tenantId}/shops`, { name: `Shop ${more}` });
      shops.push({ tenantId, shopId: String(createdAnswer.data.id) });
    }
  }
  await Promise.all(
    shops.map(async (shop) => {
      await stack.shops.connect(shop);
      await until('connected', async () => {
        const channel = await stack.shops.channel(shop);
        return channel.ok && channel.value.status === 'connected';
      });
    }),
  );
  return shops;
}

async function onTheWire(stack: MemoryStack, shops: readonly ShopReference[]): Promise<number> {
  const query = { status: 'sending', limit: 1, cursor: undefined } as const;
  const pages = await Promise.all(shops.map((shop) => stack.shops.listMessages(shop, query)));
  return pages.filter((page) => page.ok && page.value.items.length === 1).length;
}

async function sendToAll(
  stack: MemoryStack,
  shops: readonly ShopReference[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const waiting: { shop: ShopReference; turn: number }[] = [];
  for (let turn = from; turn < to; turn += 1) waiting.push(...shops.map((shop) => ({ shop, turn })));
  const caller = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const draft = { ...NO_DRAFT, to: recipient(next.turn), text: `Message ${next.turn}` };
      const reply = await stack.shops.send(next.shop, {
        ...draft,
        mediaType: 'image',
        idempotencyKey: undefined,
        requestId: '66b1f0a2c3d4e5f607182907',
      });
      assert.ok(reply.ok, JSON.stringify(reply));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

function recipient(turn: number): string {
  return `+336222${String(turn).padStart(5, '0')}`;
}

interface Figures {
  /** Commands that Redis ran, those of scripts and the scripts included. */
  readonly commands: number;
  /** How often the node looked at its shards, which a busy machine has it do more often a message. */
  readonly looks: number;
  readonly keys: number;
  /** The size of the data in Redis. */
  readonly bytes: number;
}

/** Returns Redis' counts while nothing is in progress, between two reads of its shards by the node. */
async function figures(redis: Redis): Promise<Figures> {
  let last = await figuresNow(redis);
  return until('Redis stands still', async () => {
    const now = await figuresNow(redis);
    const isStill = now.commands === last.commands && now.looks === last.looks;
    last = now;
    return isStill && now;
  });
}

async function figuresNow(redis: Redis): Promise<Figures> {
  const [stats, memory] = await Promise.all([redis.info('commandstats'), redis.info('memory')]);
  let commands = 0;
  let looks = 0;
  for (const [, name, calls] of stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    if (name === 'time') looks = Number(calls);
    // Messages between nodes, and this test's questions, do not belong to a message.
    if (!/^(info|dbsize|publish|ping|config|time)/.test(name ?? '')) commands += Number(calls);
  }
  const bytes = Number(/^used_memory:(\d+)/m.exec(memory)?.[1]);
  return { commands, looks, keys: await redis.dbsize(), bytes };
}
