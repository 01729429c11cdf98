/**
 * `MESSAGE_RETENTION_DAYS` lowered and raised, and days that pass for the service and the network. It checks when
 * messages are shown and when they expire. An erasure must also find messages that no list names any more. Redis' clock
 * cannot be set, so the test removes expired data by the expiry that Redis was given.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Redis } from 'ioredis';
import { nextCutMs } from '../../actors/shops/state/accepted-list.ts';
import { DAY_MS, HOUR_MS } from '../../runtime/durations.ts';
import { allConnected, type ChaosShop, openShops } from '../chaos/chaos-shops.ts';
import { SHIFTED_SERVICE } from '../chaos/clock-faults.ts';
import { erase } from '../e2e/stack/erase.ts';
import { type Fleet, startFleet } from '../e2e/stack/fleet.ts';
import { sendText, untilStatus } from '../e2e/stack/shop-steps.ts';
import { tracesIn } from '../e2e/stack/traces.ts';
import { until } from '../testbed/waiting.ts';

/** How far SIGPWR sets the clocks of `SHIFTED_SERVICE` ahead. */
const CLOCK_STEP_MS = HOUR_MS;

let fleet: Fleet;
let shop: ChaosShop;
/** Noon of the first day, so that no send crosses midnight; ahead of the machine's clock by so much. */
let noonMs: number;
/** How far the service's clock is ahead of the machine's. */
let aheadMs: number;
beforeEach(async () => {
  fleet = await startFleet({ nodes: 1 });
  noonMs = DAY_MS - ((Date.now() + DAY_MS / 2) % DAY_MS);
  aheadMs = noonMs;
  const [openedShop] = await openShops(fleet, 1);
  assert.ok(openedShop);
  shop = openedShop;
});
afterEach(() => fleet?.stop());

test('fewer days: messages from before keep their days, leave the list, and are erased with their shop', async () => {
  await onDay(0, 30);
  const [early, key] = await send();
  await onDay(1, 2);
  const [late] = await send();
  assert.deepEqual(await listed(), [late, early]);
  await onDay(4, 2);
  assert.deepEqual(await listed(), [early]);
  const [next] = await send();
  await pastCut(2, async () => !(await listed()).includes(early));
  assert.deepEqual(await listed(), [next]);
  assert.deepEqual([await read(early), await read(late)], [200, 404]);
  assert.deepEqual(await tracesBesideEvents(late), []);
  await erase(fleet.admin, `/tenants/${shop.tenantId}/shops/${shop.id}`);
  assert.deepEqual(await traces(early, key), []);
});

test('more days: messages from before expire at their time, later ones stay', async () => {
  await onDay(0, 2);
  const [early] = await send();
  await onDay(1, 30);
  const [late] = await send();
  await onDay(4, 30);
  assert.deepEqual([await read(early), await read(late)], [404, 200]);
  assert.deepEqual(await listed(), [late]);
  await onDay(31, 30);
  assert.deepEqual(await listed(), [late]);
  await onDay(32, 30);
  assert.deepEqual(await listed(), []);
  await pastCut(30, async () => (await tracesBesideEvents(early, late)).length === 0);
});

/** Starts the node at noon of that day with this retention in days. */
async function onDay(day: number, retentionDays: number): Promise<void> {
  await startAhead(noonMs + day * DAY_MS, retentionDays);
}

/** A shop's list is cut once a day, each at a different time. The clocks step over that time. */
async function pastCut(retentionDays: number, isCut: () => Promise<boolean>): Promise<void> {
  const dueInMs = nextCutMs(shop.id, Date.now() + aheadMs) - (Date.now() + aheadMs);
  await startAhead(aheadMs + Math.max(0, dueInMs - CLOCK_STEP_MS / 2), retentionDays);
  fleet.nodes[0]?.signal('SIGPWR');
  await until('the list is cut', isCut);
}

/** Starts the node, with the time of Redis, the service and the network ahead of the machine's by so much. */
async function startAhead(nextMs: number, retentionDays: number): Promise<void> {
  const [node] = fleet.nodes;
  assert.ok(node);
  assert.equal(await node.end('SIGTERM'), 0);
  await fleet.network.forward(nextMs - aheadMs);
  aheadMs = nextMs;
  await expire(Date.now() + aheadMs);
  const settings = { MESSAGE_RETENTION_DAYS: String(retentionDays) };
  await node.start({ settings, program: SHIFTED_SERVICE, args: [String(aheadMs)] });
  await fleet.spread();
  await allConnected([shop]);
}

/** Removes what Redis would have dropped by that time, in milliseconds since the Unix epoch. */
async function expire(nowMs: number): Promise<void> {
  await onRedis(async (redis) => {
    for (const key of await redis.keys('*')) {
      const expiresAtMs = await redis.pexpiretime(key);
      if (expiresAtMs > 0 && expiresAtMs <= nowMs) await redis.del(key);
    }
  });
}

/** Sends to a fresh customer; the message's id, and its idempotency key. */
async function send(): Promise<readonly [id: string, key: string]> {
  const to = shop.freshRecipients.pop() ?? '';
  const idempotencyKey = `key of ${to}`;
  const { data } = await sendText(shop, shop.id, { to, text: to, idempotencyKey });
  await untilStatus(shop, String(data.id), 'sent');
  return [String(data.id), idempotencyKey];
}

async function read(id: string): Promise<number> {
  return (await shop.api.get(`/messages/${id}`)).status;
}

async function listed(): Promise<string[]> {
  const { data } = await shop.api.get(`/shops/${shop.id}/messages`);
  return (data.items as { readonly id: string }[]).map(({ id }) => id);
}

/** Returns the Redis data that names one of these. */
function traces(...names: string[]): Promise<string[]> {
  return onRedis((redis) => tracesIn(redis, names));
}

/** An event has ids alone. It goes with a later event of the tenant, once it is older than `EVENT_RETENTION_DAYS`. */
async function tracesBesideEvents(...names: string[]): Promise<string[]> {
  return (await traces(...names)).filter((key) => !key.endsWith(':events'));
}

async function onRedis<Answer>(ask: (redis: Redis) => Promise<Answer>): Promise<Answer> {
  const redis = new Redis(fleet.servers[0]?.url ?? '');
  try {
    return await ask(redis);
  } finally {
    redis.disconnect();
  }
}
