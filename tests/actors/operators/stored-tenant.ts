import type { Redis } from 'ioredis';
import { tenantKeys, tenantsOfShardKey } from '../../../actors/tenants/tenant-keys.ts';
import { shardOf } from '../../../runtime/address.ts';

/** Stores the record of a tenant, and its id in the set of its shard. The operators' list does not have it. */
export async function storeTenant(redis: Redis, id: string, name: string): Promise<void> {
  const record = { version: 1, id, name, plan: 'free', active: true, owner: null, settings: {} };
  const rest = { poolFallback: false, platform: false, createdAtMs: 0, deleted: false };
  await redis.set(tenantKeys(id).record, JSON.stringify({ ...record, ...rest }));
  await redis.sadd(tenantsOfShardKey(shardOf(id)), id);
}
