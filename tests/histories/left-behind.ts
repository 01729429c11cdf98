import { Redis } from 'ioredis';
import type { Fleet } from '../e2e/fleet.ts';
import { tracesOf } from '../e2e/traces.ts';
import type { History } from './history.ts';

/** Writes down every key of Redis whose name or content still has an erased shop, or a message of one. */
export async function lookForErased(fleet: Fleet, history: History): Promise<void> {
  const erased = new Set(history.of('erased').map(({ shop }) => shop));
  const shops = new Map([...erased].map((shop) => [shop, shop]));
  for (const { id, shop } of history.of('accepted')) if (erased.has(shop)) shops.set(id, shop);
  const redis = new Redis(fleet.pair?.master().socketPath ?? '');
  try {
    // So that what DUMP answers can be searched as it is.
    await redis.config('SET', 'rdbcompression', 'no');
    for (const { key, id } of await tracesOf(redis, new Set(shops.keys())))
      history.add({ kind: 'left_after_erasure', shop: shops.get(id) ?? '', what: `${id} in ${key}` });
  } finally {
    redis.disconnect();
  }
}
