import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { RunningSide } from '../../bench/harness/running-side.ts';
import { type SideName, startSide } from '../../bench/harness/side.ts';
import { callAll } from '../../bench/load/http-calls.ts';

const FLEET = { tenants: 1, shopsPerTenant: 2, customers: 10, isConnected: true, isPaused: true } as const;
const MESSAGES_PER_SHOP = 2;

/**
 * Returns a side's stored data of a few sends: the days' messages and the shops' lists, in order. Ids and times are
 * masked.
 */
export async function storedBy(name: SideName): Promise<readonly (readonly string[])[]> {
  const directory = mkdtempSync(join(tmpdir(), 'by-hand-'));
  const side = await startSide(name, { fleet: FLEET, appendfsync: 'everysec', directory });
  const redis = new Redis(side.redisPath ?? '');
  try {
    await sendFew(side);
    const keys = (await redis.keys('*')).filter((key) => /:messages:|:accepted$/.test(key));
    const all = await Promise.all(keys.map((key) => storedUnder(redis, key)));
    return all.sort((left, right) => left.join().localeCompare(right.join()));
  } finally {
    redis.disconnect();
    await side.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function storedUnder(redis: Redis, key: string): Promise<string[]> {
  const isDay = key.includes(':messages:');
  const values = isDay ? Object.entries(await redis.hgetall(key)).flat() : await redis.lrange(key, 0, -1);
  const expires = (await redis.pttl(key)) > 0;
  return [masked(key), `expires: ${expires}`, ...values.map(masked).sort()];
}

/** Ids, the network's ids and times as their names; a list's element begins with an id and the entry's time. */
function masked(text: string): string {
  return text
    .replace(/^\{s\d+\}(:messages:\d+)?/, (_, day) => (day === undefined ? '{sN}' : '{sN}:messages:<day>'))
    .replace(/^([0-9a-f]{24})k[0-9a-z]+\./, '<id>k<time>.')
    .replace(/[0-9a-f]{24}/g, '<id>')
    .replace(/3EB0[0-9A-F]{18}/g, '<wire id>')
    .replace(/"createdAtMs":\d{13}/, '"createdAtMs":<time>');
}

async function sendFew({ ports: [port = 0], fleet }: RunningSide): Promise<void> {
  for (let turn = 0; turn < MESSAGES_PER_SHOP; turn += 1) {
    const calls = fleet.shops.map(({ id, key }) => ({
      method: 'POST',
      path: `/api/v1/shops/${id}/messages`,
      token: key,
      body: { channel: 'msgapp', to: fleet.recipients[turn], text: `Your order ${turn} is ready.` },
    }));
    await callAll(port, calls);
  }
}
