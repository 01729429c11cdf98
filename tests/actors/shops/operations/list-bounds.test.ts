/** Lists behind a filter look at a bounded number of entries for a page, and following the cursors still finds all. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CursorPage } from '../../../../actors/reply-schemas/reply-fields.ts';
import { listMessages } from '../../../../actors/shops/operations/message-list.ts';
import { messageLookup } from '../../../../actors/shops/records/message-days.ts';
import { shopKeys } from '../../../../actors/shops/records/shop-keys.ts';
import type { ShopState } from '../../../../actors/shops/state/shop-state.ts';
import { listContacts } from '../../../../actors/tenants/operations/contact-list.ts';
import { tenantKeys } from '../../../../actors/tenants/tenant-keys.ts';
import type { Read, Store } from '../../../../runtime/store.ts';
import { plainStore } from '../../../http/service-fixture.ts';
import { sharedRedis } from '../../../testbed/shared-redis.ts';

const SHARD = 7;
const NOW_MS = Date.parse('2026-03-01T08:00:00Z');
const { redis } = sharedRedis();
let commands = 0;
const plain = plainStore(redis);
const store = {
  ...plain,
  read(reads: readonly Read[]) {
    commands += reads.length;
    return plain.read(reads);
  },
} as Store;

const idOf = (index: number): string => index.toString(16).padStart(24, '0');

/** Every page until the cursor is null, and the most commands that one page took. */
async function walk<Item>(page: (cursor: string | undefined) => Promise<CursorPage<Item>>) {
  const items: Item[] = [];
  let pages = 0;
  let mostCommands = 0;
  let cursor: string | undefined;
  do {
    commands = 0;
    const { items: moreItems, nextCursor } = await page(cursor);
    mostCommands = Math.max(mostCommands, commands);
    items.push(...moreItems);
    pages += 1;
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  return { items, pages, mostCommands };
}

test('GET messages?status=sent: 3,500 messages of which the oldest alone was sent', async () => {
  const keys = shopKeys(SHARD, idOf(1));
  const pipeline = redis.pipeline();
  for (let index = 0; index < 3_500; index += 1) {
    const id = idOf(index);
    pipeline.rpush(keys.accepted, id);
    const state = {
      status: index === 0 ? 'sent' : 'failed',
      reason: null,
      updatedAtMs: NOW_MS,
      sentAtMs: null,
    };
    const body = JSON.stringify({ shopId: idOf(1), createdAtMs: NOW_MS });
    const [, key, ...fields] = messageLookup(SHARD, id);
    pipeline.hset(
      key,
      Object.fromEntries([body, JSON.stringify(state)].map((value, index) => [fields[index], value])),
    );
  }
  await pipeline.exec();
  const state = { keys, shard: SHARD } as unknown as ShopState;
  const { items, pages, mostCommands } = await walk((cursor) =>
    listMessages(state, store, { status: 'sent', limit: 20, cursor }),
  );
  assert.deepEqual(
    items.map(({ id }) => id),
    [idOf(0)],
  );
  assert.equal(pages, 4);
  assert.ok(mostCommands <= 1_020, `${mostCommands} commands for one page`);
});

test('GET contacts: 9,000 revoked ones before the only active one', async () => {
  const keys = tenantKeys(idOf(2));
  const pipeline = redis.pipeline();
  for (let index = 0; index < 9_001; index += 1) {
    const id = idOf(index);
    const phone = `+3360${String(index).padStart(7, '0')}`;
    pipeline.zadd(keys.contactOrder, 0, `${id}:${phone}`);
    const revokedAtMs = index === 9_000 ? null : NOW_MS;
    const record = { id, phone, note: null, expiresAtMs: null, createdAtMs: NOW_MS, revokedAtMs };
    pipeline.hset(keys.contacts, phone, JSON.stringify(record));
  }
  await pipeline.exec();
  const { items, pages, mostCommands } = await walk((cursor) =>
    listContacts({ keys, store, nowMs: NOW_MS }, { activeOnly: true, limit: 20, cursor }),
  );
  assert.deepEqual(
    items.map(({ id }) => id),
    [idOf(9_000)],
  );
  assert.equal(pages, 5);
  assert.ok(mostCommands <= 20, `${mostCommands} commands for one page`);
});
