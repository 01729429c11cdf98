import assert from 'node:assert/strict';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { nextPhone } from '../chaos/chaos-shops.ts';
import { makeAccount } from '../e2e/stack/account.ts';
import type { ApiClient } from '../e2e/stack/api-client.ts';
import { FEED_START, type FeedReader, startStream } from '../e2e/stack/feed-readers.ts';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { connectShop } from '../e2e/stack/shop-steps.ts';
import { deferred } from '../testbed/deferred.ts';
import { until } from '../testbed/waiting.ts';
import { type WrittenChat, writtenChat } from './written-chat.ts';

/** A tenant that gets all inbound messages of its shops. */
export interface ToldTenant {
  readonly tenantId: string;
  readonly api: ApiClient;
  readonly shopIds: readonly string[];
  readonly chats: readonly WrittenChat[];
}

/** The fault while people write, and how many messages they write meanwhile. */
export interface Round {
  readonly messages: number;
  /** Resolves when all is well again. */
  readonly inflict: () => Promise<void>;
}

const SHOPS_PER_TENANT = 2;
/** People who write to both shops of a tenant. */
const PEOPLE = 3;
const ALL_CAME_MS = 10 * MINUTE_MS;

/** Makes tenants with two connected shops each, and people who write to both. */
export async function openTenants(fleet: Fleet, count: number, random: () => number): Promise<ToldTenant[]> {
  const tenants: ToldTenant[] = [];
  for (let index = 0; index < count; index += 1) {
    const { tenantId, shopId, apiKey } = await makeAccount(fleet.admin, `Told ${index}`);
    await fleet.admin.patch(`/tenants/${tenantId}`, { inbound: 'texts' });
    const api = fleet.api(apiKey);
    const people = Array.from({ length: PEOPLE }, nextPhone);
    const shopIds = [shopId];
    for (let more = 1; more < SHOPS_PER_TENANT; more += 1)
      shopIds.push(String((await api.post('/shops', { name: `Shop ${more}` })).data.id));
    const chats: WrittenChat[] = [];
    for (const id of shopIds) {
      const shopPhone = nextPhone();
      await connectShop({ api, network: fleet.network }, id, shopPhone);
      for (const from of people)
        chats.push(writtenChat(fleet.network, { shopId: id, shopPhone, from }, random));
    }
    tenants.push({ tenantId, api, shopIds, chats });
  }
  return tenants;
}

/** Reads each tenant's events as they come, from the beginning. */
export function followAll(tenants: readonly ToldTenant[]): FeedReader[] {
  return tenants.map(({ api }) => startStream(api, FEED_START));
}

/**
 * Makes people write a number of messages, each chat in its order, and inflicts a fault once a part of them is written.
 * Then waits until the feeds have all of them.
 */
export async function writeThrough(
  tenants: readonly ToldTenant[],
  { messages, inflict }: Round,
  random: () => number,
): Promise<void> {
  const chats = tenants.flatMap((tenant) => tenant.chats);
  let left = messages;
  const { promise: begun, resolve: begin } = deferred();
  const leftAtFault = Math.floor(messages * (0.3 + 0.5 * random()));
  const writeAll = async (chat: WrittenChat): Promise<void> => {
    while (left > 0) {
      left -= 1;
      if (left === leftAtFault) begin();
      await chat.writeOne();
    }
  };
  const inflicted = begun.then(inflict);
  await Promise.all([inflicted, ...chats.map(writeAll)]);
  await Promise.all(tenants.map(untilAllCame));
}

/** An inbound message in the form of an event or a list. */
type Told = Readonly<Record<string, unknown>>;

async function untilAllCame(tenant: ToldTenant): Promise<void> {
  const expectedCount = tenant.chats.reduce((sum, { written }) => sum + written.length, 0);
  let told = 0;
  let cursor = FEED_START;
  const look = async (): Promise<boolean> => {
    const { data, status, error } = await tenant.api.get(
      `/events?limit=100&types=message.received&cursor=${cursor}`,
    );
    assert.equal(status, 200, JSON.stringify(error));
    told += (data.items as unknown[]).length;
    cursor = String(data.nextCursor);
    return told >= expectedCount;
  };
  await until('all came', look, { withinMs: ALL_CAME_MS }).catch((error: unknown) => {
    throw new Error(`of ${expectedCount} messages ${told} were told`, { cause: error });
  });
}

/** Returns all inbound messages of the feed. */
async function feedOf({ api }: ToldTenant): Promise<Told[]> {
  const toldFacts: Told[] = [];
  let cursor = FEED_START;
  for (;;) {
    const { data } = await api.get(`/events?limit=100&types=message.received&cursor=${cursor}`);
    const items = data.items as { readonly data: Told }[];
    if (items.length === 0) return toldFacts;
    toldFacts.push(...items.map((item) => item.data));
    cursor = String(data.nextCursor);
  }
}

/** The list of a shop, oldest first. */
async function listOf({ api }: ToldTenant, shopId: string): Promise<Told[]> {
  const toldFacts: Told[] = [];
  let cursor: unknown = null;
  do {
    const { data } = await api.get(
      `/shops/${shopId}/inbound?limit=100${cursor === null ? '' : `&cursor=${cursor}`}`,
    );
    toldFacts.push(...(data.items as Told[]));
    cursor = data.nextCursor;
  } while (cursor !== null);
  return toldFacts.reverse();
}

/**
 * Throws unless the feed of each tenant and the list of each shop have each message once, in the order of its chat.
 * Each person must have one id. Returns the number of messages.
 */
export async function mustBeWhole(tenants: readonly ToldTenant[]): Promise<number> {
  let count = 0;
  for (const tenant of tenants) {
    const feed = await feedOf(tenant);
    mustHaveChats(tenant, feed);
    for (const shopId of tenant.shopIds) {
      const listedIds = (await listOf(tenant, shopId)).map(({ id }) => String(id));
      const told = feed.filter((each) => each.shopId === shopId).map(({ id }) => String(id));
      assert.deepEqual(listedIds.toSorted(), told.toSorted(), 'the list has what the feed tells');
    }
    count += feed.length;
  }
  return count;
}

/** Stops readers that saw everything meanwhile. Throws unless each saw each event once and in order, as above. */
export async function sawEverythingOnce(
  tenants: readonly ToldTenant[],
  readers: readonly FeedReader[],
): Promise<void> {
  for (const [index, tenant] of tenants.entries()) {
    const reader = readers[index];
    assert.ok(reader);
    const feed = await feedOf(tenant);
    const received = () => reader.seen.filter(({ type }) => type === 'message.received');
    await until('the reader has seen everything', async () => received().length >= feed.length);
    await reader.stop();
    const cursors = reader.seen.map(({ id }) => id);
    assert.deepEqual(cursors, [...new Set(cursors)].toSorted(), 'each event once, in order');
    mustHaveChats(
      tenant,
      received().map(({ data }) => data),
    );
  }
}

function mustHaveChats({ chats }: ToldTenant, feed: readonly Told[]): void {
  const ids = feed.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, 'each once');
  const people = new Map<unknown, unknown>();
  for (const { from, fromId } of feed) if (from !== null) people.set(from, people.get(from) ?? fromId);
  for (const { shopId, from, written } of chats) {
    const own = feed.filter((told) => told.shopId === shopId && told.fromId === people.get(from));
    const told = own.map(({ kind, text, media }) => [kind, text, (media as Told | null)?.sha256 ?? null]);
    assert.deepEqual(told, written, `what ${from} wrote to ${shopId}`);
  }
  const expectedCount = chats.reduce((sum, { written }) => sum + written.length, 0);
  assert.equal(feed.length, expectedCount, 'nothing beside what was written');
}
