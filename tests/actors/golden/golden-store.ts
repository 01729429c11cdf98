import { readFileSync } from 'node:fs';
import { tenantAddress } from '../../../actors/tenant/tenant-keys.ts';
import { loadTenant, type TenantState } from '../../../actors/tenant/tenant-state.ts';
import { KeyLimits } from '../../../policy/key-limits.ts';
import type { Read, Store } from '../../../runtime/store.ts';

/** What a node of some version had stored: a tenant, its shop and three messages. */
export interface Golden {
  readonly tenantId: string;
  readonly shopId: string;
  /** In order of acceptance: one sent, two queued. */
  readonly messages: readonly string[];
  readonly keys: Record<string, { readonly type: string; value: string | string[] | Record<string, string> }>;
}

/** Reads a golden file; each call gives a copy of its own. */
export function readGolden(version: number): Golden {
  return JSON.parse(readFileSync(new URL(`./version-${version}.json`, import.meta.url), 'utf8')) as Golden;
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

/** A store that holds what a golden file says and takes no writes. */
export function goldenStore({ keys }: Golden): Store {
  const refuse = (): never => {
    throw new Error('nothing is written here');
  };
  return {
    read: (reads) => Promise.all(reads.map(async (read) => answer(keys, read))),
    lookUp: refuse,
    readBytes: refuse,
    commit: refuse,
    append: refuse,
  };
}

function answer(keys: Golden['keys'], [command, key, ...args]: Read): unknown {
  const value = keys[key]?.value;
  const hash = (value ?? {}) as Record<string, string>;
  switch (command) {
    case 'GET':
      return value ?? null;
    case 'HGET':
      return hash[String(args[0])] ?? null;
    case 'HMGET':
      return args.map((field) => hash[String(field)] ?? null);
    case 'HVALS':
      return Object.values(hash);
    case 'HGETALL':
      return Object.entries(hash).flat();
    case 'LRANGE':
    case 'SMEMBERS':
      return value ?? [];
    case 'ZRANGE':
      // Stored with scores, read without.
      return ((value ?? []) as string[]).filter((_, index) => index % 2 === 0);
    default:
      throw new Error(`a golden store does not know ${command}`);
  }
}
