import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import { loadTenant, type TenantState } from '../../../actors/tenants/tenant-state.ts';
import { KeyLimits } from '../../../policy/limits/key-limits.ts';
import type { Store } from '../../../runtime/store.ts';
import type { Value } from '../../runtime/memory-commands.ts';
import { MemoryRedis } from '../../runtime/memory-redis.ts';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';
import { readsBy } from '../../testbed/reads-by.ts';

/** The stored data of a node of some version: a tenant, its shop and three messages. */
export interface Golden {
  readonly tenantId: string;
  readonly shopId: string;
  /** In order of acceptance: one sent, two queued. */
  readonly messages: readonly string[];
  readonly keys: Record<string, { readonly type: string; value: string | string[] | Record<string, string> }>;
}

/** Reads a golden file. Each call returns a new copy. */
export function readGolden(version: number): Golden {
  return JSON.parse(readRepositoryFile(`tests/actors/golden/version-${version}.json`)) as Golden;
}

/** The hash under a key of a golden file; to be changed in place. */
export function goldenHash({ keys }: Golden, key: string): Record<string, string> {
  const entry = keys[key];
  if (entry?.type !== 'hash') throw new Error(`${key} is no hash`);
  return entry.value as Record<string, string>;
}

/** The tenant of a golden file, as its actor loads it. Throws when there is none. */
export async function goldenTenant(golden: Golden, keyLimits = new KeyLimits()): Promise<TenantState> {
  const state = await loadTenant(tenantAddress(golden.tenantId), goldenStore(golden), {
    keyLimits,
    nowMs: Number.POSITIVE_INFINITY,
  });
  if (state === undefined) throw new Error('the golden file holds no tenant');
  return state;
}

/** Returns a new store with the content of a golden file. Later commits change it. */
export function goldenStore({ keys }: Golden): Store {
  const redis = new MemoryRedis({ monotonicMs: () => 0, wallMs: () => 0 });
  putGolden({ keys }, redis);
  const refuse = (): never => {
    throw new Error('this is not asked here');
  };
  return {
    read: readsBy((read) => redis.run(read)),
    commit: async (_, writes) => {
      for (const write of writes) redis.run(write);
    },
    lookUp: refuse,
    known: refuse,
    knownFields: refuse,
    readConfirmed: refuse,
    readBytes: refuse,
    append: refuse,
  };
}

/** Puts the content of a golden file into a Redis. */
export function putGolden({ keys }: Pick<Golden, 'keys'>, redis: MemoryRedis): void {
  for (const [key, { type, value }] of Object.entries(keys)) redis.values.set(key, stored(type, value));
}

function stored(type: string, value: string | string[] | Record<string, string>): Value {
  switch (type) {
    case 'hash':
      return new Map(Object.entries(value));
    case 'set':
      return new Set(value as string[]);
    case 'zset':
      // Stored with scores, which are all zero.
      return (value as string[]).filter((_, index) => index % 2 === 0);
    default:
      return structuredClone(value) as Value;
  }
}
